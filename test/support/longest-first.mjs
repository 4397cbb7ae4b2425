import { default as sequencer } from '@jest/test-sequencer';

const Sequencer = sequencer.default ?? sequencer;

/** Files that take a minute and more on two cores. */
const LONG = [
  'test/e2e/folder',
  'test/e2e/cli',
  'test/integration/operator/scale',
  'test/faults/fairness',
  'test/faults/changes',
  'test/integration/kube/reflector',
  'test/e2e/tenant',
  'test/integration/operator/faults',
  'test/integration/worker/grades-faults',
];

/** Long files start first, so that no worker is left alone with one at the end. Jest itself knows lengths only of files that it has run here before. */
export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = [...(await super.sort(tests))];
    const rank = ({ path }) => {
      const at = LONG.findIndex((name) => path.includes(name));
      return at < 0 ? LONG.length : at;
    };
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}
