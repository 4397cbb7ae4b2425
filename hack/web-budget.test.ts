import { expect, test } from '@jest/globals';
import { readFileSync, statSync, existsSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes that the first view of a page may cost, as gzip: what a browser takes over plain http too. */
const BUDGET = 120_000;
/** The document itself, generously. */
const DOCUMENT = 1_000;

interface Chunk {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly assets?: readonly string[];
  readonly isEntry?: boolean;
}

const dist = join(import.meta.dirname, '../pkg/web/dist');
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;

/** The bytes of a file as it is sent. */
function sizeOf(file: string): number {
  const compressed = join(dist, `${file}.gz`);
  return statSync(existsSync(compressed) ? compressed : join(dist, file)).size;
}

/** The files that chunks need: themselves, what they import, their styles, and the German texts, which are loaded in addition. */
function filesOf(keys: readonly string[], found = new Set<string>(), seen = new Set<string>()): Set<string> {
  for (const key of keys) {
    const chunk = manifest[key];
    if (!chunk || seen.has(key)) continue;
    seen.add(key);
    for (const file of [chunk.file, ...(chunk.css ?? [])]) found.add(file);
    // The other fonts are loaded for letters that few pages have.
    for (const asset of chunk.assets ?? []) if (asset.includes('inter-latin-wght')) found.add(asset);
    filesOf([...(chunk.imports ?? []), ...(chunk.dynamicImports ?? []).filter((one) => one.endsWith('.de.ts'))], found, seen);
  }
  return found;
}

const APP = 'app/main.tsx';
/** Scripts that the app loads for one of its routes; others are loaded by what somebody does there. */
const routes = (manifest[APP]?.dynamicImports ?? []).filter((key) => key.endsWith('.tsx'));
const entries = Object.keys(manifest).filter((key) => manifest[key]?.isEntry && key !== APP);

test.each([...routes.map((route) => [APP, route]), ...entries.map((entry) => [entry])])(
  'the first view of %s %s costs at most 120 kB, compressed',
  (...keys) => {
    const total = [...filesOf(keys)].reduce((sum, file) => sum + sizeOf(file), DOCUMENT);

    expect(total).toBeLessThanOrEqual(BUDGET);
  },
);

test('the pages have routes to measure', () => {
  expect(routes).toContain('app/files/files-page.tsx');
});
