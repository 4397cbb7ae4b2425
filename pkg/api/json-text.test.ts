import { expect, test } from '@jest/globals';
import { jsonOf, JsonText } from './json-text.ts';

const pagination = { limit: 2, next_cursor: null, has_more: false };

test.each([
  ['texts alone', [new JsonText('{"a":1}'), new JsonText('{"b":[2]}')]],
  ['texts beside values', [{ c: '"' }, new JsonText('{"a":1}')]],
])('a page of %s is the JSON of the values that they stand for', (_what, data) => {
  const body = { data, pagination };

  expect(JSON.parse(jsonOf(body))).toEqual(JSON.parse(JSON.stringify(body)));
  expect(jsonOf(body)).toMatch(/^\{"data":\[\{.*\}\],"pagination":\{.*\}\}$/);
});

test.each([[{ data: [], pagination }], [{ data: [{ a: 1 }], pagination }], [{ data: 'x' }], [{ id: 1 }], [[1, 2]], [null]])(
  '%j without a text is its JSON',
  (body) => {
    expect(jsonOf(body)).toBe(JSON.stringify(body));
  },
);
