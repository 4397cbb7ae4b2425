import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECTIONS } from '../pkg/http/app-page.ts';

const source = (file: string): string => readFileSync(join(import.meta.dirname, '..', file), 'utf8');
const listIn = (text: string): string[] =>
  [...(/SECTIONS[^[]*\[([^\]]*)\]/.exec(text)?.[1] ?? '').matchAll(/'([^']*)'/g)].map(([, name = '']) => name);

test('the server answers the addresses that the router of the pages has, and each route is at one of them', () => {
  const ofPages = listIn(source('pkg/web/app/sections.ts'));
  const ofRoutes = [...source('pkg/web/app/routes.tsx').matchAll(/path: '\/([^'/]*)/g)].map(([, section = '']) => section);

  expect(ofPages).toEqual([...SECTIONS]);
  expect(ofRoutes.filter((section) => !SECTIONS.has(section))).toEqual([]);
  expect(ofRoutes).toContain('files');
});
