import { expect, test } from '@jest/globals';
import { h, render } from 'preact';
import { waitFor } from '../../../test/support/wait.ts';
import { Observed } from '../api/observed.ts';
import { useObserved } from './use-observed.ts';

test('a component shows a change that comes after its rendering and before its effects', async () => {
  const observed = new Observed('rendered');
  const seen: string[] = [];
  const Probe = () => {
    seen.push(useObserved(observed));
    return null;
  };
  // Nothing is drawn, so that a place for it is enough.
  render(h(Probe, {}), { nodeType: 1, childNodes: [] } as unknown as Element);

  observed.set('changed');

  await waitFor('another rendering', () => seen.length > 1);
  expect(seen).toEqual(['rendered', 'changed']);
});
