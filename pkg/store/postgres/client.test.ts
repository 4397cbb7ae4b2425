import { expect, test } from '@jest/globals';
import pg from 'pg';
import { parseTime } from './client.ts';

const TIMESTAMPTZ = 1184;

test.each([
  '2026-01-31 12:00:00+00',
  '2026-01-31 12:00:00.5+00',
  '2026-01-31 12:00:00.123+00',
  '2026-01-31 12:00:00.123456+00',
  '2026-01-31 12:00:00+02',
  '2026-01-31 12:00:00.1-03:30',
  '0001-01-01 00:00:00+00',
  '0044-03-15 12:00:00+00 BC',
  '12026-01-31 12:00:00+00',
  'infinity',
])('the time %j is what node-postgres takes it for', (text) => {
  expect(parseTime(text)).toEqual(pg.types.getTypeParser(TIMESTAMPTZ)(text));
});
