import { expect, test } from '@jest/globals';
import { ACTIONS, allOf, kindOf, queryOf, TARGET_TYPES } from './filter.ts';

const NOW = new Date(2026, 10, 27, 9, 30, 42);
const asked = (filter: Record<string, string>): unknown => JSON.parse(JSON.stringify(queryOf(filter, NOW)));

test('without a filter everything is asked for', () => {
  expect(asked({})).toEqual({});
});

test('a time is counted back from the minute, so that the same filter asks for the same', () => {
  expect(asked({ when: 'day' })).toEqual({ after: new Date(2026, 10, 26, 9, 30).toISOString() });
});

test('days are those of the reader, the first and the last one included', () => {
  expect(asked({ when: 'dates', from: '2026-10-31', to: '2026-10-31' })).toEqual({
    after: new Date(2026, 9, 30, 23, 59, 59, 999).toISOString(),
    before: new Date(2026, 10, 1).toISOString(),
  });
  expect(asked({ when: 'dates', from: 'yesterday', to: '' })).toEqual({});
});

test('an action, or everything on a kind of thing, or about one thing', () => {
  expect(asked({ what: 'file.delete', who: 'ada' })).toEqual({ actor: 'ada', action: 'file.delete' });
  expect(asked({ what: allOf('group') })).toEqual({ target_type: 'group' });
  expect(asked({ about: 'id', aboutType: 'file' })).toEqual({ target_type: 'file', target_id: 'id' });
});

test('each action stands under a kind of thing', () => {
  expect(ACTIONS.filter((action) => !TARGET_TYPES.includes(kindOf(action)))).toEqual([]);
  expect(kindOf('version.delete')).toBe('file');
});
