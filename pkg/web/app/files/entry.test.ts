import { expect, test } from '@jest/globals';
import { type Entry, stemLength } from './entry.ts';

const named = (name: string, type: Entry['type']): Entry => ({ name, type }) as Entry;

test('renaming selects the name without its ending, of a folder all of it', () => {
  const entries = [named('essay.pdf', 'file'), named('.profile', 'file'), named('v1.2', 'folder')];

  expect(entries.map(stemLength)).toEqual([5, 8, 4]);
});
