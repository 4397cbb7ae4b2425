import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECTIONS } from '../pkg/http/app-page.ts';

const source = readFileSync(join(import.meta.dirname, '../pkg/web/app/routes.tsx'), 'utf8');
const sectionsOf = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, section = '']) => section);

test('the server answers the first segments of the addresses of the app, and no others', () => {
  const ofRoutes = sectionsOf(source, /path: '\/([^'/]*)/g);
  const others = sectionsOf(/WITHOUT_ROUTE = \[[^\]]*\]/.exec(source)?.[0] ?? '', /'([^']*)'/g);

  expect([ofRoutes.includes('files'), others.length > 0]).toEqual([true, true]);
  expect([...new Set([...ofRoutes, ...others])].toSorted()).toEqual([...SECTIONS].toSorted());
});
