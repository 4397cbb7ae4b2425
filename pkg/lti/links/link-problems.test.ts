import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { LINK_PROBLEMS } from './link-problems.policy.ts';

test('docs/connect-an-lms.md lists every code of a placed link that opens nothing', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/connect-an-lms.md'), 'utf8');

  for (const [code, message] of Object.entries(LINK_PROBLEMS)) expect(page).toContain(`| \`${code}\` | ${message} |`);
});
