import { expect, test } from '@jest/globals';
import { copyOf, stagesOf } from './dockerfile.ts';

test('stages have their instructions with arguments and continued lines, and no comments', () => {
  const text = [
    '# a comment',
    'ARG BASE=debian:12',
    'FROM ${BASE} AS build',
    'COPY a b \\',
    '  c/',
    '# another',
    'FROM scratch',
    'ARG VERSION=1.2',
    'LABEL version="${VERSION}"',
    'ENTRYPOINT []',
  ].join('\n');

  expect(stagesOf(text)).toEqual([
    { base: 'debian:12', name: 'build', instructions: [{ name: 'COPY', rest: 'a b c/' }] },
    {
      base: 'scratch',
      name: undefined,
      instructions: [
        { name: 'LABEL', rest: 'version="1.2"' },
        { name: 'ENTRYPOINT', rest: '[]' },
      ],
    },
  ]);
});

test('an instruction before the first stage is refused', () => {
  expect(() => stagesOf('RUN true')).toThrow('RUN stands before FROM');
});

test('COPY names sources, a target and the stage that they come from', () => {
  expect(copyOf('--from=build /src/dist ./')).toEqual({ from: 'build', sources: ['/src/dist'], target: './' });
  expect(copyOf('a b c/')).toEqual({ from: undefined, sources: ['a', 'b'], target: 'c/' });
});
