/**
 * Builds the browser's pages (pkg/web) to pkg/web/dist when their sources have changed since the last build: `node hack/web.ts`.
 * Prints nothing when nothing has changed. Several may run at once. A server that reads meanwhile sees the old build or the new
 * one.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const root = dirname(import.meta.dirname);
const web = join(root, 'pkg/web');
const dist = join(web, 'dist');
const STAMP = 'sources.sha256';

/** The documents that the server sends, and the script of each in pkg/web. pkg/http/web-bundle.ts finds them by name. */
const DOCUMENTS = {
  app: 'app/main.tsx',
  frame: 'app/preview/frame/main.tsx',
  entry: 'lti/entry/main.tsx',
  picker: 'lti/picker/main.tsx',
  reference: 'reference/main.tsx',
  registration: 'lti/registration/main.ts',
  share: 'share/main.tsx',
  storage: 'lti/storage/main.ts',
} as const;

/** Returns the hash of the sources and of the versions of the tools that build them. */
function fingerprint(): string {
  const hash = createHash('sha256');
  const files = readdirSync(web, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/[\\/]dist(-[^\\/]*)?[\\/]|\.test\.ts$/.test(file.slice(web.length)));
  for (const file of [...files.sort(), import.meta.filename, join(root, 'package-lock.json')]) {
    hash
      .update(`${file.slice(root.length)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

function built(): string | undefined {
  try {
    return readFileSync(join(dist, STAMP), 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Builds each document by itself, and writes its manifest to `.vite/<name>.json`. Documents that were built together would share
 * chunks, and each would load many small files in place of its own.
 */
async function build(outDir: string): Promise<void> {
  const vite = await import('vite'); // slow to load, and mostly not needed
  const loaded = await vite.loadConfigFromFile({ command: 'build', mode: 'production' }, join(web, 'vite.config.ts'));
  for (const [name, script] of Object.entries(DOCUMENTS)) {
    const own = { outDir, manifest: `.vite/${name}.json`, rolldownOptions: { input: { [name]: join(web, script) } } };
    await vite.build(vite.mergeConfig({ ...loaded?.config, configFile: false }, { build: own }));
  }
}

/** Media types that gain by compression; fonts and images are compressed already. */
const COMPRESSIBLE = /\.(m?js|css|svg|wasm)$/;

/** Writes each file also as the server sends it to browsers: it has no time for the best compression itself. */
function compress(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => COMPRESSIBLE.test(one))) {
    const bytes = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
}

const wanted = fingerprint();
if (built() !== wanted) {
  const started = performance.now();
  const outDir = join(web, `dist-${process.pid}`);
  const former = `${outDir}-former`;
  try {
    rmSync(outDir, { recursive: true, force: true }); // of a build that was killed
    mkdirSync(outDir);
    await build(outDir);
    compress(join(outDir, 'assets'));
    writeFileSync(join(outDir, STAMP), wanted);
    try {
      renameSync(dist, former);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // the first build, or another's swap
    }
    renameSync(outDir, dist);
  } catch (error) {
    if (built() !== wanted) throw error; // else somebody built the same meanwhile
  } finally {
    rmSync(outDir, { recursive: true, force: true });
    rmSync(former, { recursive: true, force: true });
  }
  process.stdout.write(`built the browser's pages in ${Math.round(performance.now() - started)} ms\n`);
}
