import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { LAUNCH_ERRORS } from './launch-error.ts';

test('docs/connect-an-lms.md lists every code with its status and sentence', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/connect-an-lms.md'), 'utf8');
  const [, section = ''] = /^## Why a launch is refused\n([\s\S]*)/m.exec(page) ?? [];
  const listed = [...section.matchAll(/^\| `(\w+)` \| (\d{3}) \| (.*) \|$/gm)].map(([, code, status, meaning]) => ({
    code,
    status: Number(status),
    meaning,
  }));

  expect(listed).toEqual(Object.entries(LAUNCH_ERRORS).map(([code, { status, meaning }]) => ({ code, status, meaning })));
});

test('every code is provoked by a test', () => {
  const folder = join(import.meta.dirname, '../../test/integration/lti');
  const tests = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));

  const unprovoked = Object.keys(LAUNCH_ERRORS).filter(
    (code) => !tests.some((text) => new RegExp(`['" ]${code}['"]`).test(text)),
  );

  expect(unprovoked).toEqual([]);
});
