import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { waitFor } from '../../../test/support/wait.ts';
import { run } from './run.ts';

test('a program that exits during a build ends the build', async () => {
  const program = `
    import { run } from ${JSON.stringify(join(import.meta.dirname, 'run.ts'))};
    void run(process.execPath, ['-e', 'console.error(process.pid); setInterval(() => {}, 1000)'], {
      onLine: (pid) => { console.log(pid); process.exit(0); },
    });`;

  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 30_000,
  });

  expect(status).toBe(0);
  const pid = Number(stdout);
  expect(pid).toBeGreaterThan(1);
  await waitFor('the end of the build', () => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  });
});

test('a missing program is reported with its error, and one that takes too long has no exit code', async () => {
  const missing = await run('/nowhere/program', []);
  const slow = await run(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { timeoutMs: 500 });

  expect(missing).toMatchObject({ code: null, output: expect.stringContaining('ENOENT') });
  expect(slow.code).toBeNull();
});
