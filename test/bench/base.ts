import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256Hex } from '../../pkg/runtime/sha256.ts';

/** What `before and after` compares with: another commit of this repository in a worktree of its own. */
export interface Base {
  readonly root: string;
  /** Abbreviated. */
  readonly commit: string;
  remove(): void;
}

/**
 * What test/bench imports of test/support, and where commits since 9c2235e had it. A commit that had it elsewhere gets a file
 * that exports it from there, so the base's programs are started and written to by the base's own code.
 */
const FORMERLY: Readonly<Record<string, string>> = {
  'test/support/backends.ts': './parts.ts',
  'test/support/worker-platform.ts': '../integration/worker/platform.ts',
  'test/support/worker-process.ts': '../integration/worker/worker-process.ts',
  'test/support/lms/registration.ts': '../../integration/lti/registration.ts',
};

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
    for (const [file, former] of Object.entries(FORMERLY)) {
      const isThere = existsSync(join(root, file));
      if (!isThere && existsSync(join(root, dirname(file), former)))
        writeFileSync(join(root, file), `export * from '${former}';\n`);
    }
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
