import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ListrTask } from 'listr2';
import { keyText } from '../../kube/object.ts';
import { CommandError, messageOf } from '../../runtime/command-error.ts';
import { addSampleData, SAMPLE_TENANT } from '../demo/sample-data/sample-data.ts';
import { writeAtomically } from '../files.ts';
import { DEFAULT_ROUTER_PORT, makeFolders, openStateDirectory, paths, readSettings } from '../state-directory.ts';
import { lock } from '../lock.ts';
import { thisMachine } from '../binaries/resolve.ts';
import { ALL_GROUPS, GROUPS_OF_PLATFORM, type Group, untilReady } from '../platform.ts';
import { probePort, probePortPatiently } from '../ports.ts';
import { runTasks } from '../progress.ts';
import { applySamples, installResources } from '../resources.ts';
import { clientOf } from '../client.ts';
import { endPlatform } from './down.ts';
import { binaryTasks } from './binaries.ts';
import { readReport, startSupervisor } from './supervise.ts';
import { listTenants } from './tenants.ts';

interface UpOptions {
  readonly stateDirectory: string;
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  /** CARREL_PORT; undefined: the port of the existing settings, otherwise 8080. */
  readonly port: number | undefined;
  /** Leaves out operator, worker, resources and samples. */
  readonly onlyPlatform: boolean;
}

/** Another `up` may be building binaries. */
const OTHER_UP_MS = 45 * 60_000;
const TENANTS_MS = 180_000;

/**
 * Starts the platform, or completes an earlier `up`: binaries, programs, custom resources, samples, until all tenants are Ready.
 * Safe to repeat and to run twice at once. Throws CommandError with one line if something prevents it.
 */
export async function up(options: UpOptions): Promise<void> {
  const { stateDirectory } = options;
  const groups = options.onlyPlatform ? GROUPS_OF_PLATFORM : ALL_GROUPS;
  makeFolders(stateDirectory);
  const held = await lock(paths(stateDirectory).upLock, {
    timeoutMs: OTHER_UP_MS,
    onWait: (pid) => process.stderr.write(`waiting for process ${pid}, which is using ${stateDirectory}\n`),
  });
  try {
    const machine = thisMachine(options.root, options.env);
    const tasks: ListrTask[] = [
      { title: 'Binaries', task: (_, task) => task.newListr(binaryTasks(groups, machine)) },
      { title: 'Programs', task: (_, task) => startPrograms(options, groups, onChange(task)) },
    ];
    if (!options.onlyPlatform) {
      tasks.push(
        { title: 'Samples', task: () => applySamples(stateDirectory, options.root) },
        { title: 'Tenants', task: (_, task) => untilTenantsReady(stateDirectory, onChange(task)) },
        { title: 'Sample data', task: (_, task) => sampleData(stateDirectory, onChange(task)) },
      );
    }
    await runTasks(tasks);
  } finally {
    held.release();
  }
}

/** Reports each new text once: without a terminal every report is a line. */
function onChange(task: { output: string }): (text: string) => void {
  let last = '';
  return (text) => {
    if (text !== last && text !== '') task.output = text;
    last = text;
  };
}

async function startPrograms(options: UpOptions, groups: readonly Group[], report: (text: string) => void): Promise<void> {
  const { stateDirectory, root } = options;
  const running = readReport(stateDirectory);
  if (running) refuseOtherPort(options);
  let failed: () => string | undefined = () => undefined;
  const startedHere = !running || groups.some((group) => !running.groups.includes(group));
  if (startedHere) {
    await endPlatform(stateDirectory);
    const { settings } = await openStateDirectory(stateDirectory, { routerPort: options.port });
    await requireFreePort(settings.routerPort);
    ({ failed } = startSupervisor({ stateDirectory, root, groups }));
  }
  const ready = untilReady(stateDirectory, () => {
    const last = failed();
    if (last !== undefined) throw new CommandError(last.replace(/^carrel: /, ''));
    const programs = readReport(stateDirectory)?.programs;
    const late = Object.entries(programs ?? {}).filter(([, { state }]) => state !== 'ready');
    report(late.map(([name, { state, reason }]) => (state === 'restarting' ? `${name}: ${reason}` : name)).join(', '));
    return programs;
  });
  await ready.catch(async (error: unknown) => {
    if (startedHere) await endPlatform(stateDirectory); // A platform that cannot start is ended.
    throw error;
  });
  // The sources may have changed since the start. This waits for readiness, since an earlier `up` may have been interrupted
  // before it.
  if (!startedHere && groups.includes('programs')) await installResources(stateDirectory, root);
}

function refuseOtherPort({ stateDirectory, port }: UpOptions): void {
  const current = readSettings(stateDirectory)?.routerPort;
  if (port !== undefined && current !== undefined && port !== current) {
    throw new CommandError(
      `the platform is already up on port ${current}. To move it to ${port}: make down, then CARREL_PORT=${port} make up`,
    );
  }
}

async function requireFreePort(port: number): Promise<void> {
  for (const host of ['127.0.0.1', '::1']) {
    if ((await probePortPatiently(host, port)) !== 'taken') continue;
    let other = port + 1;
    while (other < 65_535 && (await probePort(host, other)) === 'taken') other++;
    throw new CommandError(
      `port ${port} on ${host} is taken by another program. Choose a free one: CARREL_PORT=${other} make up`,
    );
  }
}

/** Waits for the tenants that can become Ready, but not for suspended ones or those whose resource is rejected. */
async function untilTenantsReady(stateDirectory: string, report: (text: string) => void): Promise<void> {
  const client = clientOf(stateDirectory);
  const deadline = performance.now() + TENANTS_MS;
  try {
    for (;;) {
      const waiting = (await listTenants(client)).filter(({ state }) => state === 'waiting');
      const [first] = waiting;
      if (!first) return;
      report(waiting.map(({ key, reason }) => `${key} (${reason})`).join(', '));
      if (performance.now() > deadline) {
        throw new CommandError(
          `tenant ${first.key} is not Ready: ${first.reason}. More: make status, and logs/operator.log in ${stateDirectory}`,
        );
      }
      await sleep(300);
    }
  } finally {
    await client.close();
  }
}

/**
 * Fills the sample tenant once per state directory. The platform is up without it, so a failure is shown and the next `up` tries
 * again.
 */
async function sampleData(stateDirectory: string, report: (text: string) => void): Promise<void> {
  const { sampleData: added } = paths(stateDirectory);
  if (existsSync(added)) return;
  const client = clientOf(stateDirectory);
  try {
    const tenant = (await listTenants(client)).find(({ key }) => key === keyText(SAMPLE_TENANT));
    if (tenant?.state !== 'ready' || tenant.appUrl === undefined) return;
    const routerPort = readSettings(stateDirectory)?.routerPort ?? DEFAULT_ROUTER_PORT;
    await addSampleData({ client, routerPort, appUrl: tenant.appUrl });
    writeAtomically(added, '');
  } catch (error) {
    report(`the sample data could not be added: ${messageOf(error)}`);
  } finally {
    await client.close();
  }
}
