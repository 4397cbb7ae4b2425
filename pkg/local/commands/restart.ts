import type { ListrTask } from 'listr2';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../runtime/command-error.ts';
import { signal } from '../processes.ts';
import { kubectl } from '../kubectl.ts';
import { runTasks } from '../progress.ts';
import { readReport } from './supervise.ts';

/** The label of every child of a Tenant (pkg/operator/names.ts). */
const TENANT_LABEL = 'app.kubernetes.io/managed-by=carrel-operator';
const READY_MS = 60_000;

/**
 * Makes the current sources run. It ends operator, worker and helpers, which their supervisor starts again, and rolls the
 * tenants' Deployments. With names it ends only these programs.
 */
export async function restart(stateDirectory: string, programs: readonly string[]): Promise<void> {
  const report = readReport(stateDirectory);
  if (!report) throw new CommandError(`the platform in ${stateDirectory} is down. Start it: make up`);
  const unknown = programs.find((name) => !(name in report.programs));
  if (unknown !== undefined)
    throw new CommandError(`there is no program ${unknown}; there are ${Object.keys(report.programs).join(', ')}.`);
  const chosen = programs.length > 0 ? programs : ['operator', 'worker', 'helpers'].filter((name) => name in report.programs);
  const tasks: ListrTask[] = chosen.map((name) => ({ title: name, task: () => restartProgram(stateDirectory, name) }));
  if (programs.length === 0) tasks.push({ title: 'tenants', task: () => restartTenants(stateDirectory) });
  await runTasks(tasks, { concurrent: true });
}

async function restartProgram(stateDirectory: string, name: string): Promise<void> {
  const before = readReport(stateDirectory)?.programs[name];
  if (before?.pid !== undefined) signal(before.pid, name === 'postgres' ? 'SIGINT' : 'SIGTERM');
  const deadline = performance.now() + READY_MS;
  for (;;) {
    const now = readReport(stateDirectory)?.programs[name];
    if (now?.state === 'ready' && now.pid !== before?.pid) return;
    if (performance.now() > deadline)
      throw new CommandError(`${name} does not come back: ${now?.reason ?? 'no reason known'}. Its log: carrel logs ${name}`);
    await sleep(50);
  }
}

async function restartTenants(stateDirectory: string): Promise<void> {
  const listed = await kubectl(
    stateDirectory,
    'get',
    'deployments',
    '-A',
    '-l',
    TENANT_LABEL,
    '-o',
    'jsonpath={range .items[*]}{.metadata.namespace}{" "}{.metadata.name}{"\\n"}{end}',
  );
  const deployments = listed
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' ') as [string, string]);
  for (const [namespace, name] of deployments)
    await kubectl(stateDirectory, '-n', namespace, 'rollout', 'restart', `deployment/${name}`);
  for (const [namespace, name] of deployments)
    await kubectl(stateDirectory, '-n', namespace, 'rollout', 'status', `deployment/${name}`, '--timeout=90s');
}
