import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { LTI_REFUSALS } from './refusal.ts';

test('docs/connect-an-lms.md lists every code with its status and sentence', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/connect-an-lms.md'), 'utf8');
  const listed = [...page.matchAll(/^\| `(\w+)` \| (\d{3}) \| (.*) \|$/gm)].map(([, code, status, meaning]) => ({
    code,
    status: Number(status),
    meaning,
  }));

  expect(listed).toEqual(Object.entries(LTI_REFUSALS).map(([code, { status, meaning }]) => ({ code, status, meaning })));
});
