import sequencer from '@jest/test-sequencer';

/** The class itself: the package's types describe its CommonJS form. */
const TestSequencer = sequencer as unknown as typeof sequencer.default;
type Sort = InstanceType<typeof TestSequencer>['sort'];

/**
 * The order of jest's test files: the longest begin first, so that none of them runs alone at the end. On a fresh clone jest knows no
 * times and goes by the size of the files. `make test` prints the slowest files at its end; a new one that takes over a minute belongs here.
 */
export const LONGEST = [
  'test/e2e/cli.test.ts',
  'test/e2e/folder.test.ts',
  'test/integration/operator/scale.test.ts',
  'test/integration/worker/grades.test.ts',
  'test/integration/operator/faults.test.ts',
  'test/integration/content/faults.test.ts',
  'test/integration/worker/webhooks-ours.test.ts',
  'test/e2e/tenant.test.ts',
  'test/integration/kube/reflector.test.ts',
  'test/integration/worker/grades-faults.test.ts',
];

/** The position of a file in LONGEST; a file that is not in the list comes after them. */
const rank = (path: string): number => {
  const at = LONGEST.findIndex((file) => path.endsWith(`/${file}`));
  return at < 0 ? LONGEST.length : at;
};

/** The files of LONGEST first, in its order; the others keep theirs. */
export const longestFirst = <T extends { readonly path: string }>(tests: readonly T[]): T[] =>
  tests.toSorted((a, b) => rank(a.path) - rank(b.path));

export default class LongestFirst extends TestSequencer {
  override async sort(...args: Parameters<Sort>): Promise<Awaited<ReturnType<Sort>>> {
    return longestFirst(await super.sort(...args));
  }
}
