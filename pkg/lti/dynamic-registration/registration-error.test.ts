import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { REGISTRATION_ERRORS } from './registration-error.ts';

test('docs/connect-an-lms.md lists every code of a refused registration with its status and sentence', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/connect-an-lms.md'), 'utf8');
  const [, section = ''] = /^## Why an LMS is not registered\n([\s\S]*?)^## /m.exec(page) ?? [];
  const listed = [...section.matchAll(/^\| `(\w+)` \| (\d{3}) \| (.*) \|$/gm)].map(([, code, status, meaning]) => ({
    code,
    status: Number(status),
    meaning,
  }));

  expect(listed).toEqual(Object.entries(REGISTRATION_ERRORS).map(([code, { status, meaning }]) => ({ code, status, meaning })));
});

test('every code of a refused registration is provoked by a test', () => {
  const folder = join(import.meta.dirname, '../../../test/integration/lti');
  const tests = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));

  const unprovoked = Object.keys(REGISTRATION_ERRORS).filter(
    (code) => !tests.some((text) => new RegExp(`['" ]${code}['"]`).test(text)),
  );

  expect(unprovoked).toEqual([]);
});
