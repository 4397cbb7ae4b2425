import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** A page of the documentation. */
export interface Page {
  readonly file: string;
  readonly text: string;
  /** The texts between single backticks outside of code blocks. */
  readonly spans: readonly string[];
  /** The text of the fenced code blocks. */
  readonly blocks: readonly string[];
}

/** README.md, CONTRIBUTING.md and every page of docs/. */
export function pages(): Page[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`);
  return ['README.md', 'CONTRIBUTING.md', ...docs.toSorted()].map((file) => page(file, readFileSync(join(ROOT, file), 'utf8')));
}

const FENCE = /^```.*$\n([\s\S]*?)^```$/gm;

function page(file: string, text: string): Page {
  const blocks = [...text.matchAll(FENCE)].map(([, block = '']) => block);
  const spans = [...text.replaceAll(FENCE, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  return { file, text, blocks, spans };
}

/** The code of the product, without its tests: file names and texts. */
export function sources(): { file: string; text: string }[] {
  return execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', 'cmd', 'pkg', 'hack', 'crds', 'charts', 'Makefile'],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  )
    .split('\n')
    .filter((file) => /(\.(ts|tsx|go|ya?ml|json)|Makefile)$/.test(file) && !/\.test\.tsx?$|^hack\/docs\//.test(file))
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));
}

const CITING = ['cmd', 'pkg', 'hack', 'test', 'crds', 'charts', 'config', 'Makefile'];

/** Every file that a person writes and that may cite a document: code, tests, manifests, scripts. */
export function citing(): { file: string; text: string }[] {
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...CITING], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter(
      (file) => /(\.(tsx?|m?js|go|py|ya?ml|css|html|toml)|Makefile|Dockerfile)$/.test(file) && !file.startsWith('hack/docs/'),
    )
    .filter((file) => existsSync(join(ROOT, file)))
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));
}

/** The words that `pattern`'s first group finds in a text, sorted, each once. */
export const wordsOf = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map(([, word = '']) => word))].toSorted();
