import { expect, test } from '@jest/globals';
import { ENTITY_TAGS_PATTERN, etagOf, etagOfText, noneMatchHits, parseEntityTags, requireMatch } from './etag.ts';
import { Problem } from './problem.ts';

test.each([
  [undefined, undefined],
  ['*', '*'],
  ['"a"', ['a']],
  ['"a", W/"b" ,"c,d"', ['a', 'W/b', 'c,d']],
  ['"a", W/"b"', ['a', 'W/b']],
  ['""', ['']],
])('If-Match %j is read as %j', (header, tags) => {
  expect(parseEntityTags('If-Match', header)).toEqual(tags);
});

test.each(['a', '"a', 'a"', '"a" "b"', '"a",', ',', '', '"a\u0007"'])(
  'the malformed %j is a 400 that names the header',
  (header) => {
    expect(() => parseEntityTags('If-Match', header)).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        details: [expect.objectContaining({ field: 'If-Match' })],
      }) as unknown as Problem,
    );
  },
);

test('If-Match compares strongly: a weak tag never matches', () => {
  expect(() => requireMatch(['x', 'a'], 'a')).not.toThrow();
  expect(() => requireMatch('*', 'a')).not.toThrow();
  expect(() => requireMatch(undefined, 'a')).not.toThrow();
  expect(() => requireMatch(['W/a'], 'a')).toThrow(Problem);
  expect(() => requireMatch(['b'], 'a')).toThrow(Problem);
});

test('If-None-Match compares weakly', () => {
  expect([['a'], ['W/a'], '*', ['b'], undefined].map((tags) => noneMatchHits(tags as string[], 'a'))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

test('a tag changes with the revision, the kind and the thing', () => {
  const tags = [etagOf('file', 'u', 1), etagOf('file', 'u', 2), etagOf('folder', 'u', 1), etagOf('file', 'v', 1)];

  expect(new Set(tags).size).toBe(4);
  expect(tags[0]).toBe(etagOf('file', 'u', 1));
});

test('the tag of a text changes with every character, and a header can hold it', () => {
  const tags = ['{"name":"a"}', '{"name":"b"}', '{"name":"\u00e4"}', '{"name":"a\u0308"}', ''].map(etagOfText);

  expect(new Set(tags).size).toBe(5);
  expect(tags[0]).toBe(etagOfText('{"name":"a"}'));
  for (const tag of tags) expect(`"${tag}"`).toMatch(new RegExp(ENTITY_TAGS_PATTERN));
});
