import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { stagesOf } from '../../hack/dockerfile.ts';
import { assembleImage } from '../../hack/image.ts';
import { run } from '../../pkg/local/binaries/run.ts';
import { ROOT } from '../support/backends/backends.ts';

/** Checks what the image adds to its base, assembled by the Dockerfile's own instructions, and starts its programs. */
const MEBIBYTE = 1024 * 1024;
let app: string;
let files: string[];
beforeAll(async () => {
  const root = await mkdtemp(join(tmpdir(), 'carrel-image-'));
  await assembleImage(root);
  app = join(root, 'app');
  files = readdirSync(app, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(app.length + 1));
});

const own = (): string[] => files.filter((file) => !file.startsWith('node_modules/'));

/** A program of the image with nothing in its environment but what is given. */
const start = (...args: string[]) => run(process.execPath, args, { cwd: app, env: {}, timeoutMs: 120_000 });

/** What the pages have of PDF.js: its scripts, and the decoders of pictures. */
const PDF_JS = /^pkg\/web\/dist\/assets\/(pdf|openjpeg|jbig2|qcms)/;

test('the image adds less than 130 MiB to its base, of which the code of Carrel is less than 6, and PDF.js less than 4', () => {
  const sizeOf = (names: string[]): number => names.reduce((sum, name) => sum + statSync(join(app, name)).size, 0) / MEBIBYTE;

  expect(sizeOf(files)).toBeLessThan(130);
  expect(sizeOf(own().filter((file) => !PDF_JS.test(file)))).toBeLessThan(6);
  expect(sizeOf(own().filter((file) => PDF_JS.test(file)))).toBeLessThan(4);
});

test('it holds compiled programs, pages and the bill of materials: no sources, tests, tools or credentials', () => {
  expect([...new Set(own().map((file) => file.split('/')[0] ?? ''))].toSorted()).toEqual([
    'LICENSE',
    'cmd',
    'crds',
    'package.json',
    'pkg',
    'sbom.cdx.json',
  ]);
  expect(own().filter((file) => /\.tsx?$|\.(test|fixture)\.js$|\.npmrc$|\.env|\.pem$|\.key$/.test(file))).toEqual([]);
  expect(own()).toEqual(
    expect.arrayContaining([
      'cmd/operator/main.js',
      'cmd/server/main.js',
      'cmd/worker/main.js',
      'cmd/helpers/main.js',
      'cmd/carrel/main.js',
    ]),
  );
  expect(own().some((file) => file.startsWith('pkg/web/dist/') && file.endsWith('.js'))).toBe(true);
});

test('it has the packages of the bill of materials, and no other', () => {
  const { metadata, components } = JSON.parse(readFileSync(join(app, 'sbom.cdx.json'), 'utf8')) as {
    metadata: { component: { name: string } };
    components: { name: string; version: string; licenses?: unknown[] }[];
  };
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  const present = files
    .filter((file) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(file))
    .map((file) => JSON.parse(readFileSync(join(app, file), 'utf8')) as { name: string; version: string })
    .map(({ name, version }) => `${name}@${version}`);
  const named = new Set(present.map((entry) => entry.slice(0, entry.lastIndexOf('@'))));

  expect(metadata.component.name).toBe('carrel');
  expect(present.filter((entry) => !listed.has(entry))).toEqual([]);
  // Packages of other platforms are listed and not here; the pages have parts of these in them.
  const missing = components.filter(({ name }) => !named.has(name) && !/^@(node-rs|msgpackr-extract)\//.test(name));
  expect(missing.map(({ name }) => name)).toEqual([
    '@fontsource-variable/inter',
    'marked',
    'pdfjs-dist',
    'preact',
    'preact-iso',
    'uqr',
  ]);
});

test.each([
  ['operator', 'operator: CARREL_SHARDS_DIR is missing.'],
  ['worker', 'worker: CARREL_SHARDS_DIR is missing.'],
  ['server', 'server: CARREL_TENANT_SLUG is missing.'],
])('the %s loads its packages, and says in one line what it needs', async (program, line) => {
  const { code, output } = await start(`cmd/${program}/main.js`);

  expect(output.trimEnd().split('\n')).toEqual([expect.stringContaining(line)]);
  expect(code).toBe(1);
});

test('all that the server loads after its settings is there, and so are the operations of carrel', async () => {
  const server = await start(
    '--input-type=module',
    '--eval',
    `await import(${JSON.stringify(join(app, 'cmd/server/server.js'))})`,
  );
  const carrel = await start('cmd/carrel/main.js', 'tenants', 'adoption-token', '--help');

  expect([server.code, server.output]).toEqual([0, '']);
  expect(carrel.stdout).toContain('adoption-token');
});

test('the image runs as nobody of the host, without a shell, and names its program', () => {
  const stages = stagesOf(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
  const last = stages.at(-1);
  const values = (name: string): string[] => last?.instructions.filter((one) => one.name === name).map(({ rest }) => rest) ?? [];

  expect(last?.base).toMatch(/^gcr\.io\/distroless\/nodejs24-debian12:nonroot/);
  expect(values('USER')).toEqual(['65532:65532']);
  expect(values('RUN')).toEqual([]);
  expect(values('CMD')).toEqual(['["node", "cmd/operator/main.js"]']);
  expect(values('LABEL').join(' ')).toContain('org.opencontainers.image.version="0.1.0"');
  expect(stages.map(({ base }) => base)).not.toContainEqual(expect.stringMatching(/:latest$|^[^:@]+$/));
});

test('the label of the version is that of the package and of the chart', () => {
  const version = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;

  expect(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')).toContain(`ARG VERSION=${version}\n`);
  expect(readFileSync(join(ROOT, 'charts/carrel/Chart.yaml'), 'utf8')).toContain(`\nappVersion: ${version}\n`);
});
