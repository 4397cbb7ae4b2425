/**
 * Assembles the image's root file system without an engine, by the Dockerfile's own instructions: `node hack/image.ts FOLDER`.
 * The bases are left out: what comes out is what the image adds to its base. The packages are this checkout's, which npm
 * installed by the same lockfile; everything else is run as it is written.
 */
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { run } from '../pkg/local/binaries/run.ts';
import { copyOf, stagesOf } from './dockerfile.ts';
import { type Lockfile, shippedPackages } from './shipped-packages.ts';

const ROOT = dirname(import.meta.dirname);
const RUN_LIMIT_MS = 180_000;

/** Commands that fetch packages, and what stands for them here. */
const FETCHES: Readonly<Record<string, (folder: string) => void>> = {
  'npm pkg delete devDependencies && npm ci --ignore-scripts': linkPackages,
  'npm install --ignore-scripts': (folder) => symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules')),
};

/** Fills the empty folder `into`, which stands for /. Throws with a command's output. */
export async function assembleImage(into: string): Promise<void> {
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  const stages = stagesOf(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
  const temporary = mkdtempSync(join(tmpdir(), 'carrel-image-'));
  const folders = new Map<string, string>();
  try {
    for (const [index, { name, instructions }] of stages.entries()) {
      const root = index === stages.length - 1 ? into : join(temporary, name ?? String(index));
      if (name !== undefined) folders.set(name, root);
      let workingFolder = root;
      for (const instruction of instructions) {
        if (instruction.name === 'WORKDIR') {
          workingFolder = join(root, instruction.rest);
          mkdirSync(workingFolder, { recursive: true });
        } else if (instruction.name === 'COPY') {
          copy(instruction.rest, workingFolder, folders, ignored);
        } else if (instruction.name === 'RUN') {
          await command(instruction.rest, workingFolder);
        }
      }
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/**
 * Copies as a container engine does: a folder's content to the target, a file to the target or into it. Skips what
 * .dockerignore names.
 */
function copy(rest: string, workingFolder: string, stages: ReadonlyMap<string, string>, ignored: readonly string[]): void {
  const { from, sources, target } = copyOf(rest);
  const context = from === undefined ? ROOT : stages.get(from);
  if (context === undefined) throw new Error(`Dockerfile: COPY ${rest}: no stage of that name stands before`);
  for (const source of sources) {
    const path = join(context, source);
    const isIgnored = (file: string): boolean => from === undefined && ignored.includes(relative(ROOT, file));
    const to =
      target.endsWith('/') && !statSync(path).isDirectory()
        ? join(workingFolder, target, basename(source))
        : join(workingFolder, target);
    // A stage before is done: its files can have a second name.
    if (from !== undefined && statSync(path).isDirectory()) linkTree(path, to);
    else cpSync(path, to, { recursive: true, verbatimSymlinks: true, filter: (file) => !isIgnored(file) });
  }
}

async function command(text: string, folder: string): Promise<void> {
  const fetch = FETCHES[text];
  if (fetch) return fetch(folder);
  if (/\bnpm (ci|i|install)\b/.test(text)) throw new Error(`hack/image.ts does not know what stands for: ${text}`);
  const { code, output } = await run('sh', ['-c', text], { cwd: folder, timeoutMs: RUN_LIMIT_MS });
  if (code !== 0) throw new Error(`Dockerfile: RUN ${text}: ${output}`);
}

/** The packages that the lockfile has for the programs, on this platform. */
function linkPackages(folder: string): void {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile;
  for (const path of shippedPackages(lock)) {
    // A package within another comes with it; one for another platform is not installed.
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) || !existsSync(join(ROOT, path))) continue;
    linkTree(join(ROOT, path), join(folder, path));
  }
}

/** The same files under another path: a second name costs neither bytes nor time, and removing it leaves the first. */
function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target);
    else {
      try {
        linkSync(source, target);
      } catch {
        cpSync(source, target, { verbatimSymlinks: true }); // another file system
      }
    }
  }
}

if (import.meta.main) {
  const into = process.argv[2];
  if (into === undefined) {
    process.stderr.write('image: name the folder to fill: node hack/image.ts FOLDER\n');
    process.exit(1);
  }
  await assembleImage(resolve(into));
}
