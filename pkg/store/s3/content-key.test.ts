import { expect, test } from '@jest/globals';
import { systemRandom } from '../../runtime/random.ts';
import { isContentKey, newContentKey } from './content-key.ts';

test('a key that Carrel generates is recognized among all others', () => {
  const key = newContentKey('20261122', systemRandom);
  const others = [
    'backups/db.dump',
    '.carrel-tenant',
    '20261122/report.pdf',
    `files/${key}`,
    `${key}/more`,
    `${key}.bak`,
    `${key}\n`,
    key.toUpperCase().replace(/\/..\//, '/AB/'),
    key.slice(1),
    '',
  ];

  expect(Array.from({ length: 200 }, () => newContentKey('20261122', systemRandom)).every(isContentKey)).toBe(true);
  expect(others.filter(isContentKey)).toEqual([]);
});
