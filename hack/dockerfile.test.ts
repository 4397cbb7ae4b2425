import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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

test.each(['Dockerfile', 'config/dependencies/versitygw.Dockerfile'])('a release by %s needs both bases by digest', (file) => {
  const text = readFileSync(file, 'utf8');
  const build = (values: Record<string, string>) => {
    const given = Object.entries(values).reduce(
      (all, [name, value]) => all.replace(new RegExp(`^ARG ${name}=.*$`, 'm'), `ARG ${name}=${value}`),
      text,
    );
    const check = stagesOf(given)[0]?.instructions.find(({ name }) => name === 'RUN')?.rest ?? 'exit 2';
    const { status, stderr } = spawnSync('sh', ['-c', check], { encoding: 'utf8' });
    return `${status} ${stderr.trim()}`;
  };
  const digest = `@sha256:${'0'.repeat(64)}`;

  expect(build({})).toBe('0 ');
  expect(build({ RELEASE: 'true', BASE: `a${digest}`, BUILD_BASE: `b${digest}` })).toBe('0 ');
  const refused = '1 A release needs both bases by digest, BASE and BUILD_BASE (docs/operate/install.md).';
  expect(build({ RELEASE: 'true' })).toBe(refused);
  expect(build({ RELEASE: 'true', BASE: `a${digest}` })).toBe(refused);
  expect(build({ RELEASE: 'true', BUILD_BASE: `b${digest}` })).toBe(refused);
});
