import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, expect, test } from '@jest/globals';
import { TestRun } from '../../../hack/test-run.ts';
import { markedProcesses, type MarkedProcess, startTime } from '../../../pkg/local/processes.ts';
import { ROOT } from '../../support/backends/backends.ts';
import { waitFor } from '../../support/wait.ts';

/** A run of the tests that is ended from outside while its stores run. */
const runners: ChildProcess[] = [];

afterAll(() => {
  for (const runner of runners) if (runner.exitCode === null && runner.signalCode === null) runner.kill('SIGTERM');
});

interface Run {
  readonly runner: ChildProcess;
  readonly id: string;
  /** Returns the output of `make test` so far. */
  output(): string;
}

async function runWithStores(): Promise<Run> {
  const runner = spawn(
    process.execPath,
    ['hack/test.ts', '--selectProjects', 'integration', '--testPathPatterns', 'store/outage'],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, CARREL_TEST_BACKENDS: '', CARREL_TEST_RUN: '', JEST_WORKER_ID: '9' },
    },
  );
  runners.push(runner);
  let text = '';
  for (const stream of [runner.stdout, runner.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  const run = { runner, id: `${runner.pid}-${startTime(runner.pid as number)}`, output: () => text };
  await waitFor(
    'Postgres of the run',
    () => of(run).some(({ environment }) => environment['CARREL_PROGRAM'] === 'postgres'),
    120_000,
  ).catch((error: unknown) => {
    throw new Error(`the run printed: ${text}`, { cause: error });
  });
  return run;
}

/** The processes of a run, however they were started. */
const of = ({ id }: Run): MarkedProcess[] =>
  markedProcesses().filter(
    ({ environment }) => environment['CARREL_TEST_RUN'] === id || (environment['CARREL_HOME']?.split('/').includes(id) ?? false),
  );

test.concurrent.each(['SIGINT', 'SIGTERM'] as const)('%s ends everything that a run of the tests started', async (signal) => {
  const run = await runWithStores();

  const exited = new Promise((resolve) => run.runner.once('exit', resolve));
  run.runner.kill(signal);
  await exited;

  expect(of(run)).toEqual([]);
  // The output may arrive after the end of the process.
  await waitFor('its last line', () => /interrupted; \d+ processes ended/.test(run.output()));
});

test('the next run finds and ends what a killed run has left', async () => {
  const run = await runWithStores();
  run.runner.kill('SIGKILL');
  await waitFor('the end of the runner', () => run.runner.signalCode !== null);

  const left = TestRun.abandoned(ROOT).filter(({ id }) => id === run.id);
  for (const each of left) await each.end();

  expect(left).toHaveLength(1);
  expect(of(run)).toEqual([]);
});
