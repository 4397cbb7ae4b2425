import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { sha256Hex } from '../../pkg/runtime/sha256.ts';

/** The commit with which `before and after` compares, in a worktree of its own. */
export interface Base {
  readonly root: string;
  /** Abbreviated. */
  readonly commit: string;
  remove(): void;
}

/** Files of test/support that test/bench imports, by the folder that they moved to. */
const MOVED: Readonly<Record<string, readonly string[]>> = {
  backends: ['backends', 'ports', 'start-backends', 'stores'],
  clients: ['api', 'rosters', 'webhooks'],
  cluster: ['apiserver-metrics', 'operator'],
  fakes: ['receiver'],
  measures: ['resident'],
  programs: ['server', 'worker-platform', 'worker-process'],
};

/** The paths that some of these files had earlier still, in commits since 9c2235e. */
const FORMERLY: Readonly<Record<string, string>> = {
  'test/support/backends/backends.ts': 'test/support/parts.ts',
  'test/support/programs/worker-platform.ts': 'test/integration/worker/platform.ts',
  'test/support/programs/worker-process.ts': 'test/integration/worker/worker-process.ts',
  'test/support/lms/registration.ts': 'test/integration/lti/registration.ts',
};

/**
 * Writes what a base lacks of the files that test/bench imports: each one exports the base's own file from its former path, so
 * the base's programs are started and written to by the base's own code.
 */
function addMovedFiles(root: string): void {
  const moved = Object.entries(MOVED).flatMap(([folder, names]) =>
    names.map((name): [string, string] => [`test/support/${folder}/${name}.ts`, `test/support/${name}.ts`]),
  );
  for (const [file, former] of [...moved, ...Object.entries(FORMERLY)]) {
    if (existsSync(join(root, file)) || !existsSync(join(root, former))) continue;
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), `export * from '${relative(dirname(file), former)}';\n`);
  }
}

/**
 * Checks `ref` out into `root` and gives it the packages it needs and this checkout's test/bench, so both are measured in the
 * same way. A bench that does not load there has no base.
 */
export function checkOutBase(present: string, ref: string, root: string): Base {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: present, encoding: 'utf8' }).trim();
  git('worktree', 'prune');
  git('worktree', 'add', '--quiet', '--detach', root, ref);
  // Its entry in the repository may be gone already: `git worktree prune` of somebody else.
  const remove = (): void => {
    rmSync(root, { recursive: true, force: true });
    git('worktree', 'prune');
  };
  try {
    rmSync(join(root, 'test/bench'), { recursive: true });
    cpSync(join(present, 'test/bench'), join(root, 'test/bench'), {
      recursive: true,
    });
    addMovedFiles(root);
    symlinkSync(packages(present, root), join(root, 'node_modules'));
    execFileSync(process.execPath, ['hack/web.ts'], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    });
    return { root, commit: git('rev-parse', '--short', ref), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** The present's own packages where the base locks the same ones; else a copy that stays for the next run. */
function packages(present: string, base: string): string {
  const lock = (folder: string): string => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (lock(base) === lock(present)) return join(present, 'node_modules');
  const folder = join(present, 'node_modules/.cache/bench', sha256Hex(lock(base)).slice(0, 12));
  const installed = join(folder, 'node_modules');
  if (existsSync(installed)) return installed;
  mkdirSync(folder, { recursive: true });
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) cpSync(join(base, file), join(folder, file));
  try {
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, stdio: ['ignore', 2, 2] });
  } catch (error) {
    rmSync(installed, { recursive: true, force: true });
    throw error;
  }
  return installed;
}
