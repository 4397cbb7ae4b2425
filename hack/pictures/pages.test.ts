import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PICTURES } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const documents = [
  'README.md',
  ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];

test('each picture in docs/pictures is one that make pictures takes, and one that a document shows in light and dark', () => {
  const taken = PICTURES.flatMap(({ name, sizes = ['wide'] }) =>
    sizes.flatMap((size) => [`${name}-${size}-light.webp`, `${name}-${size}-dark.webp`]),
  );
  const shown = documents.flatMap((name) =>
    [...readFileSync(join(root, name), 'utf8').matchAll(/pictures\/([\w-]+\.webp)/g)].map(([, file = '']) => file),
  );

  expect(readdirSync(join(root, 'docs/pictures')).toSorted()).toEqual(taken.toSorted());
  expect([...new Set(shown)].toSorted()).toEqual(taken.toSorted());
});
