import { expect, test } from '@jest/globals';
import { shippedPackages } from './shipped-packages.ts';

const one = { version: '1.0.0' };

test('the programs get what they depend on, and what that depends on, at the version that is found from there', () => {
  const packages = {
    '': { version: '0.1.0', dependencies: { a: '1', b: '1' }, devDependencies: { tool: '1' } },
    'node_modules/a': { ...one, dependencies: { c: '2' }, optionalDependencies: { 'c-linux': '1', absent: '1' } },
    'node_modules/a/node_modules/c': { ...one, dependencies: { b: '1' } },
    'node_modules/b': { ...one, peerDependencies: { peer: '1' } },
    'node_modules/c': one,
    'node_modules/c-linux': one,
    'node_modules/peer': one,
    'node_modules/tool': one,
  };

  expect([...shippedPackages({ packages })].toSorted()).toEqual([
    'node_modules/a',
    'node_modules/a/node_modules/c',
    'node_modules/b',
    'node_modules/c-linux',
    'node_modules/peer',
  ]);
});

test('a package that a tool brings and a program might use is not for the programs', () => {
  const packages = {
    '': { version: '0.1.0', dependencies: { reader: '1' }, devDependencies: { tool: '1' } },
    'node_modules/reader': {
      ...one,
      peerDependencies: { canvas: '1' },
      peerDependenciesMeta: { canvas: { optional: true } },
    },
    'node_modules/tool': { ...one, optionalDependencies: { canvas: '1' } },
    'node_modules/canvas': one,
  };

  expect([...shippedPackages({ packages })]).toEqual(['node_modules/reader']);
});
