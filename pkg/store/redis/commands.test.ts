import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS, SCRIPT_COMMANDS } from './commands.ts';

const FOLDER = 'pkg/store/redis';

test('a tenant’s Redis user may run the commands that scripts call, and no others for them', () => {
  const sources = readdirSync(FOLDER).map((file) => readFileSync(join(FOLDER, file), 'utf8'));
  const called = sources.flatMap((text) => [...text.matchAll(/redis\.call\('(\w+)'/g)].map(([, name = '']) => name.toLowerCase()));
  const sent = new Set<string>(COMMANDS);

  expect([...new Set(called)].filter((name) => !sent.has(name)).toSorted()).toEqual([...SCRIPT_COMMANDS].toSorted());
});
