import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import subsetFont from 'subset-font';

const require = createRequire(import.meta.url);
const ORIGINAL = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';
/** The weights of design/tokens.css. */
const WEIGHTS = { min: 400, max: 600 };
const CACHE = join(import.meta.dirname, '../../node_modules/.cache/fonts');

/**
 * Writes the font for Latin letters with only the weights and letters that the pages use, 30 of 48 kB: it is the largest file of
 * a first view. Returns the alias by which Vite finds it in place of the original. The letters are those of `unicode-range` in
 * design/font.css.
 */
export async function latinFont(): Promise<Record<string, string>> {
  const styles = readFileSync(join(import.meta.dirname, 'design/font.css'), 'utf8');
  const ranges = /inter-latin-wght[^}]*unicode-range:([^;]*);/.exec(styles)?.[1];
  if (ranges === undefined) throw new Error('design/font.css gives no unicode-range for the Latin letters of Inter');
  const letters = [...ranges.matchAll(/U\+([\dA-F]+)(?:-([\dA-F]+))?/g)].flatMap(([, first = '', last = first]) => {
    const [from, to] = [parseInt(first, 16), parseInt(last, 16)];
    return Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index));
  });
  const bytes = await subsetFont(readFileSync(require.resolve(ORIGINAL)), letters.join(''), {
    targetFormat: 'woff2',
    variationAxes: { wght: WEIGHTS },
  });
  mkdirSync(CACHE, { recursive: true });
  const file = join(CACHE, 'inter-latin-wght-normal.woff2');
  writeFileSync(file, bytes);
  return { [ORIGINAL]: file };
}
