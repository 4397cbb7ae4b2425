import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';

/** sched(7); field 41 of /proc/[pid]/stat (proc(5)); the first two are before the last `) `. */
const SCHED_OTHER = '0';
const SCHED_BATCH = '3';
const POLICY = `readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[38]`;

(process.platform === 'linux' ? describe : describe.skip)('on Linux, whose chrt it needs', () => {
  test('what a process starts after it has taken the policy is scheduled as batch work', async () => {
    const read = `import { readFileSync } from 'node:fs'; console.log(${POLICY});`;
    const started = (setUp: string): string => `
      import { spawnSync } from 'node:child_process';
      import { takeBatchPolicy } from '${join(import.meta.dirname, 'batch-policy.ts')}';
      ${setUp}
      spawnSync(process.execPath, ['--input-type=module', '--eval', ${JSON.stringify(read)}], { stdio: 'inherit' });
    `;
    // The run of the tests has the policy already.
    const policyOf = async (script: string): Promise<string> => {
      const args = ['--other', '0', process.execPath, '--input-type=module', '--eval', script];
      return (await promisify(execFile)('chrt', args)).stdout.trim();
    };

    expect([await policyOf(started('')), await policyOf(started('takeBatchPolicy();'))]).toEqual([SCHED_OTHER, SCHED_BATCH]);
  });
});
