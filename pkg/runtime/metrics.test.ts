import { expect, test } from '@jest/globals';
import { tenantLabels } from './metrics.ts';

test('the first tenants have a label each, and all others share one', () => {
  const labelOf = tenantLabels(2);
  expect(['a', 'b', 'c', 'a', 'd'].map(labelOf)).toEqual(['a', 'b', 'other', 'a', 'other']);
});
