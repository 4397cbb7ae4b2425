import { expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, parse } from 'node:path';

/** Bytes that the first view of a page may cost, as gzip: what a browser takes over plain http too. */
const BUDGET = 120_000;
/** The document itself, generously. */
const DOCUMENT = 1_000;
/** Requests of a first view: a slow connection takes half a second for each that waits for another. */
const REQUESTS = 8;
/** Other pages than those of files share less with each other. */
const OTHER_REQUESTS = 13;

interface Chunk {
  readonly file: string;
  readonly name?: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly assets?: readonly string[];
  readonly isEntry?: boolean;
}
type Manifest = Readonly<Record<string, Chunk>>;

const dist = join(import.meta.dirname, '../pkg/web/dist');
const manifests: ReadonlyMap<string, Manifest> = new Map(
  readdirSync(join(dist, '.vite')).map((file) => [
    parse(file).name,
    JSON.parse(readFileSync(join(dist, '.vite', file), 'utf8')) as Manifest,
  ]),
);

/** The bytes of a file as it is sent. */
function sizeOf(file: string): number {
  const compressed = join(dist, `${file}.gz`);
  return statSync(existsSync(compressed) ? compressed : join(dist, file)).size;
}

/** Returns true for texts of one part, and for those of the first view (pkg/web/chunks.ts). */
const isGerman = (manifest: Manifest, key: string): boolean => key.endsWith('.de.ts') || manifest[key]?.name === 'german';

/** The files that chunks need: themselves, what they import and their styles; in German, the texts that they load in addition. */
function filesOf(
  manifest: Manifest,
  keys: readonly string[],
  language: 'en' | 'de',
  found = new Set<string>(),
  seen = new Set<string>(),
): Set<string> {
  for (const key of keys) {
    const chunk = manifest[key];
    if (!chunk || seen.has(key)) continue;
    seen.add(key);
    for (const file of [chunk.file, ...(chunk.css ?? [])]) found.add(file);
    // The other fonts are loaded for letters that few pages have.
    for (const asset of chunk.assets ?? []) if (asset.includes('inter-latin-wght')) found.add(asset);
    const texts = language === 'de' ? (chunk.dynamicImports ?? []).filter((one) => isGerman(manifest, one)) : [];
    filesOf(manifest, [...(chunk.imports ?? []), ...texts], language, found, seen);
  }
  return found;
}

const APP = 'app/main.tsx';
const app = manifests.get('app') ?? {};
/** The chunk of all pages of files (pkg/web/chunks.ts). */
const FILES = Object.keys(app).find((key) => app[key]?.name === 'files') ?? '';
const source = readFileSync(join(dist, '../app/routes.tsx'), 'utf8');
/** The scripts of the app's routes, as they are imported; others are loaded by what somebody does there. */
const routes = new Set([...source.matchAll(/import\('\.\/?(.*?)'\)/g)].map(([, path = '']) => join('app', path)));
const views: [string, ...string[]][] = [...manifests].flatMap(([document, manifest]) =>
  document === 'app'
    ? [...routes].map((route): [string, string, string] => [document, APP, manifest[route] ? route : FILES])
    : [[document, ...Object.keys(manifest).filter((key) => manifest[key]?.isEntry)]],
);

test.each(views)(
  'the first view of %s %s %s costs at most 120 kB, compressed, with the texts of two languages',
  (document, ...keys) => {
    const files = [...filesOf(manifests.get(document) ?? {}, keys, 'de')];

    expect(files.reduce((sum, file) => sum + sizeOf(file), DOCUMENT)).toBeLessThanOrEqual(BUDGET);
  },
);

test.each(views)('the first view of %s %s %s needs few requests', (document, ...keys) => {
  const files = filesOf(manifests.get(document) ?? {}, keys, 'en');

  expect(1 + files.size).toBeLessThanOrEqual(document !== 'app' || keys.includes(FILES) ? REQUESTS : OTHER_REQUESTS);
});

test('each page of the app and each other document is measured', () => {
  const documents = views.map(([document]) => document);
  const loaded = app[APP]?.dynamicImports ?? [];

  expect(documents).toEqual(
    expect.arrayContaining(['app', 'entry', 'frame', 'picker', 'reference', 'registration', 'share', 'storage']),
  );
  expect(routes.size).toBeGreaterThan(20);
  expect(views.filter(([document, , route = '']) => document === 'app' && !loaded.includes(route))).toEqual([]);
});
