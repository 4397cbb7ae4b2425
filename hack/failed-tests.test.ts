import { expect, test } from '@jest/globals';
import { failedTests } from './failed-tests.ts';

const passed = { status: 'passed', fullName: 'files are listed', failureMessages: [] };
const file = { name: '/code/test/a.test.ts', message: '', status: 'passed', assertionResults: [passed] };

test('a run without failures lists nothing', () => {
  expect(failedTests([file], '/code')).toEqual([]);
});

test('a failed test is listed with its file, its name and how its message begins, without colours', () => {
  const failed = {
    status: 'failed',
    fullName: 'files › are counted',
    failureMessages: ['Error: \u001b[2mexpect(\u001b[22mreceived\u001b[2m)\u001b[22m.toBe(1)\n\nExpected: 1\n    at a.test.ts:3'],
  };
  expect(failedTests([file, { ...file, status: 'failed', assertionResults: [passed, failed] }], '/code')).toEqual([
    '✕ test/a.test.ts: files › are counted',
    '    Error: expect(received).toBe(1)',
  ]);
});

test('a file that breaks before its tests is listed with the reason', () => {
  const message = '\u001b[1m  ● Test suite failed to run\n\n    Cannot find module ‘x’\n    at b.test.ts:1';
  expect(failedTests([{ name: '/code/hack/b.test.ts', message, status: 'failed', assertionResults: [] }], '/code')).toEqual([
    '✕ hack/b.test.ts',
    '    Cannot find module ‘x’',
  ]);
});

test('a long line is cut', () => {
  const failed = { status: 'failed', fullName: 'a', failureMessages: ['x'.repeat(1_000)] };
  expect(failedTests([{ ...file, status: 'failed', assertionResults: [failed] }], '/code')[1]).toHaveLength(4 + 401);
});
