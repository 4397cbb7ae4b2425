import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

/**
 * The tests of the inner run of jest: one that passes twice, one that is skipped and must be counted as such, and every kind of
 * failure.
 */
const FILES = {
  'good.test.ts': `import { expect, test } from '@jest/globals';
    test.each([1, 2])('%s is a number', (n: number) => expect(n).toEqual(expect.any(Number)));
    test.skip('skipped', () => {});`,
  'bad.test.ts': `import { expect, test } from '@jest/globals';
    test('differs', () => expect(1).toBe(2));
    test('hangs', () => new Promise(() => {}), 300);
    test('nobody handles the rejection', async () => {
      void Promise.reject(new Error('unhandled'));
      await new Promise((resolve) => setTimeout(resolve, 50));
    });`,
  'noted.test.ts': `import { test } from '@jest/globals';
    import { noteOnFailure } from '${join(import.meta.dirname, 'failure-notes.ts')}';
    noteOnFailure(async () => 'The page shows: nothing');
    noteOnFailure(() => Promise.reject(new Error('the page is closed')));
    test('has a note', () => { throw new Error('no row'); });`,
  'scope.test.ts': `import { afterEach, beforeAll, expect, test } from '@jest/globals';
    import { atEndOfTest } from '${join(import.meta.dirname, 'test-scope.ts')}';
    const ended = [];
    beforeAll(() => atEndOfTest(async () => ended.push('of all tests')));
    afterEach(() => ended.push('hook'));
    test('opens two, one of which cannot be ended', () => {
      atEndOfTest(() => Promise.reject(new Error('it has ended before')));
      atEndOfTest(async () => ended.push('of one test'));
    });
    test('finds them ended', () => expect(ended).toEqual(['hook', 'of one test']));`,
  'hook.test.ts': `import { beforeAll, test } from '@jest/globals';
    beforeAll(() => { throw new Error('the hook failed'); });
    test('its hook failed', () => {});`,
  'syntax.test.ts': `import { test } from '@jest/globals'; test('x', () => {`,
  'import.test.ts': `import './nothing.ts'; import { test } from '@jest/globals'; test('x', () => {});`,
  'empty.test.ts': `export {};`,
};

interface Results {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: { assertionResults: { title: string; status: string; failureMessages: string[] }[] }[];
}

let folder: string;
let results: Results;
let exitCode: number | null;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-jest-'));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  const lane = { testRunner: join(import.meta.dirname, 'native-modules.mjs'), transform: {}, testMatch: ['**/*.test.ts'] };
  writeFileSync(join(folder, 'jest.config.json'), JSON.stringify(lane));
  const options = [
    '--rootDir',
    folder,
    '--config',
    join(folder, 'jest.config.json'),
    '--json',
    '--outputFile',
    join(folder, 'out.json'),
  ];
  const jest = spawnSync(process.execPath, [join(ROOT, 'node_modules/jest/bin/jest.js'), '--maxWorkers=2', ...options], {
    timeout: 240_000,
  });
  exitCode = jest.status;
  results = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8')) as Results;
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('what fails, hangs, rejects unhandled, or has a failed hook is a failed test', () => {
  const all = results.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = all.filter(({ status }) => status === 'failed').map(({ title }) => title);

  expect(failed.toSorted()).toEqual(['differs', 'hangs', 'has a note', 'its hook failed', 'nobody handles the rejection']);
  expect(results).toMatchObject({ numPassedTests: 4, numFailedTests: 5, numPendingTests: 1 });
  expect(exitCode).toBe(1);
});

test('what a test opens is ended after it and its hooks; what is opened before all tests stays', () => {
  const all = results.testResults.flatMap(({ assertionResults }) => assertionResults);

  expect(all.find(({ title }) => title === 'finds them ended')).toMatchObject({ status: 'passed' });
});

test('the message of a failed test ends with the notes for it', () => {
  const all = results.testResults.flatMap(({ assertionResults }) => assertionResults);
  const [message] = all.find(({ title }) => title === 'has a note')?.failureMessages ?? [];

  expect(message).toContain('no row');
  expect(message).toContain('The page shows: nothing');
  expect(message).toContain('no note: Error: the page is closed');
});

test('a file that cannot be loaded, or has no test, is an error of the run', () => {
  expect(results.numRuntimeErrorTestSuites).toBe(3);
});
