import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const web = join(import.meta.dirname, '../pkg/web');

test('no page makes an id in the way that browsers have over https alone (pkg/web/api/new-id.ts)', () => {
  // A launch comes by https: without it browsers keep no cookie of a frame.
  const sources = globSync('**/*.{ts,tsx}', { cwd: web }).filter((file) => !/^(dist|lti)|\.test\.ts$/.test(file));
  const code = (file: string): string => readFileSync(join(web, file), 'utf8').replaceAll(/\/\*[^]*?\*\//g, '');

  expect(sources.length).toBeGreaterThan(100);
  expect(sources.filter((file) => code(file).includes('randomUUID'))).toEqual([]);
});
