import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '../../pkg/runtime/sha256.ts';

/** What `before and after` compares with: another commit of this repository in a worktree of its own. */
export interface Base {
  readonly root: string;
  /** Abbreviated. */
  readonly commit: string;
  remove(): void;
}

/**
 * Checks `ref` out into `root` and gives it the packages it needs and this checkout's test/bench, so both are measured in the same way.
 * A bench that does not load there has no base.
 */
export function checkOutBase(present: string, ref: string, root: string): Base {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: present, encoding: 'utf8' }).trim();
  git('worktree', 'prune');
  git('worktree', 'add', '--quiet', '--detach', root, ref);
  const remove = (): void => void git('worktree', 'remove', '--force', root);
  try {
    rmSync(join(root, 'test/bench'), { recursive: true });
    cpSync(join(present, 'test/bench'), join(root, 'test/bench'), {
      recursive: true,
    });
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
