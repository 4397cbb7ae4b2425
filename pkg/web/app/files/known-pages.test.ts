import { expect, test } from '@jest/globals';
import type { Entry } from './entry.ts';
import { type KnownPage, rowsOf, withPageRead } from './known-pages.ts';

const entry = (id: string): Entry => ({
  type: 'file',
  id,
  name: id,
  path: `/${id}`,
  owner: { id: 'ada', name: 'Ada' },
  time: '2026-03-04T12:00:00Z',
  size: 1,
  mimeType: null,
});

/** A page of these rows behind a cursor; `next` is its last row, unless it ends the list. */
const page = (cursor: string | undefined, rows: string, next: string | null = rows.at(-1) ?? null): KnownPage => ({
  cursor,
  etag: rows,
  body: { rows: rows.split('').map(entry), next },
});

/** Each page in a line: its cursor, its rows, where the next begins; `?` for one that is to be read again. */
const inLines = (pages: readonly KnownPage[]): string[] =>
  pages.map(({ cursor = '', etag, body }) => {
    const ids = body.rows.map(({ id }) => id).join('');
    return `${cursor}:${ids}:${body.next ?? ''}${etag === undefined ? '?' : ''}`;
  });

const PAGES = [page(undefined, 'bdf'), page('f', 'hjl'), page('l', 'npr'), page('r', 'tvx')];

test.each([
  ['with the same rows, renamed', 1, page('f', 'hjl'), [':bdf:f', 'f:hjl:l', 'l:npr:r', 'r:tvx:x']],
  ['with one row more', 1, page('f', 'hij'), [':bdf:f', 'f:hij:j', 'j:lnpr:r?', 'r:tvx:x']],
  ['with rows that nobody knows', 1, page('f', 'g01'), [':bdf:f', 'f:g01:1', '1:hjlnpr:r?', 'r:tvx:x']],
  ['with one row less', 1, page('f', 'hln'), [':bdf:f', 'f:hln:n', 'n:pr:r?', 'r:tvx:x']],
  ['with one row less, which its page had last', 1, page('f', 'hjn'), [':bdf:f', 'f:hjn:n', 'n:pr:r?', 'r:tvx:x']],
  ['without its rows and those of the next', 1, page('f', 'tvx'), [':bdf:f', 'f:tvx:x']],
  ['that reaches over the next', 1, page('f', 'jrt'), [':bdf:f', 'f:jrt:t', 't:vx:x?']],
  ['that is the end now', 1, page('f', 'hj', null), [':bdf:f', 'f:hj:']],
  ['that was the last known, with one row more', 3, page('r', 'stv'), [':bdf:f', 'f:hjl:l', 'l:npr:r', 'r:stv:v', 'v:x:x?']],
  ['that was the last known, with one row less', 3, page('r', 'txz'), [':bdf:f', 'f:hjl:l', 'l:npr:r', 'r:txz:z']],
  ['that is the first, with one row more', 0, page(undefined, 'abd'), [':abd:d', 'd:fhjl:l?', 'l:npr:r', 'r:tvx:x']],
])('a page %s joins the others', (_, at, read, joined) => {
  expect(inLines(withPageRead(PAGES, at, read))).toEqual(joined);
});

test('the rows of pages are there once each', () => {
  expect(rowsOf([page(undefined, 'ab'), page('b', 'bc')]).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
});
