import { styleText } from 'node:util';
import { relative } from 'node:path';
import { messageOf } from '../../runtime/command-error.ts';
import { existingStateDirectory, paths, readSettings } from '../state-directory.ts';
import { apiserverUrl } from '../programs/controlplane.ts';
import { DEMO_HOSTS, HELPERS_HOST } from '../programs/carrel.ts';
import { clientOf } from '../client.ts';
import type { ProgramStatus } from '../supervisor.ts';
import { readReport } from './supervise.ts';
import { listTenants, type TenantReport } from './tenants.ts';

type Colour = 'green' | 'yellow' | 'red' | 'bold';

/** Adds colour only on a terminal (and if NO_COLOR is not set). */
const coloured = (colour: Colour, text: string): string => styleText(colour, text, { stream: process.stdout });

/** Prints programs, tenants and addresses. Returns false if the platform is down or some part of it is not ready. */
export async function status(stateDirectory: string): Promise<boolean> {
  const report = readReport(stateDirectory);
  if (!report) {
    const known = readSettings(stateDirectory) !== undefined;
    print(
      known
        ? `The platform in ${stateDirectory} is down. Start it: make up`
        : `There is no platform in ${stateDirectory}. Start one: make up`,
    );
    return false;
  }
  print(coloured('bold', 'Programs'));
  for (const [name, program] of Object.entries(report.programs)) print(`  ${programLine(name, program)}`);
  const { ready, problem } = await printTenants(stateDirectory);
  print(coloured('bold', 'Addresses'));
  const { settings } = existingStateDirectory(stateDirectory);
  print(
    `  API server  ${apiserverUrl({ path: stateDirectory, settings })} (export KUBECONFIG=${paths(stateDirectory).kubeconfig})`,
  );
  if ('helpers' in report.programs)
    print(`  helpers     http://${HELPERS_HOST}:${settings.routerPort} (translate texts and PDFs, optimise PDFs)`);
  if ('demo' in report.programs) {
    const [lms, receiver] = DEMO_HOSTS.map((host) => `http://${host}:${settings.routerPort}`);
    print(`  demo LMS    ${lms} (links that launch into the tenants)`);
    print(`  receiver    ${receiver} (shows the webhooks that it received)`);
  }
  const late = Object.values(report.programs).filter(({ state }) => state !== 'ready').length;
  const good = late === 0 && ready;
  print(good ? coloured('green', 'Everything is ready.') : coloured('yellow', problem ?? 'Not everything is ready.'));
  return good;
}

function programLine(name: string, { state, pid, restarts, reason }: ProgramStatus): string {
  const colour = state === 'ready' ? 'green' : state === 'restarting' ? 'red' : 'yellow';
  const more = [
    pid === undefined ? '' : `pid ${pid}`,
    restarts === 0 ? '' : `restarts ${restarts}`,
    state === 'ready' ? '' : (reason ?? ''),
  ];
  return `${name.padEnd(24)} ${coloured(colour, state.padEnd(10))} ${more.filter(Boolean).join('  ')}`.trimEnd();
}

async function printTenants(stateDirectory: string): Promise<{ ready: boolean; problem?: string }> {
  const client = clientOf(stateDirectory);
  try {
    const tenants = await listTenants(client);
    if (tenants.length === 0) return { ready: true };
    print(coloured('bold', 'Tenants'));
    for (const tenant of tenants) for (const line of tenantLines(stateDirectory, tenant)) print(`  ${line}`);
    return { ready: tenants.every(({ state }) => state === 'ready' || state === 'suspended') };
  } catch (error) {
    return { ready: false, problem: `The API server does not answer: ${messageOf(error)}` };
  } finally {
    await client.close();
  }
}

/**
 * Returns a tenant's address, and the command that prints its password: the password itself stays out of scroll-back and logs.
 */
function tenantLines(stateDirectory: string, tenant: TenantReport): string[] {
  const colour = tenant.state === 'ready' ? 'green' : tenant.state === 'refused' ? 'red' : 'yellow';
  const detail = tenant.state === 'ready' ? (tenant.appUrl ?? '') : tenant.reason;
  const head = `${tenant.key.padEnd(24)} ${coloured(colour, tenant.state.padEnd(10))} ${detail}`;
  if (tenant.state !== 'ready' || tenant.administrator === undefined) return [head.trimEnd()];
  const kubeconfig = relative(process.cwd(), paths(stateDirectory).kubeconfig) || paths(stateDirectory).kubeconfig;
  const kubectl = `${relative(process.cwd(), paths(stateDirectory).bin)}/kubectl --kubeconfig ${kubeconfig}`;
  const secret = `${kubectl} -n ${tenant.namespace} get secret ${tenant.name}-admin -o jsonpath='{.data.password}' | base64 -d`;
  return [head, `  sign in as ${tenant.administrator}, password: ${secret}`];
}

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
