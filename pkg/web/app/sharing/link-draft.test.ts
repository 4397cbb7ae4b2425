import { expect, test } from '@jest/globals';
import type { Share } from '../../api/operations.generated.ts';
import { draftOf, faultsOf, type LinkDraft, termsOf, underRules } from './link-draft.ts';
import { dayOf, endOfDay } from './link-terms.ts';

const NOW = new Date('2026-03-09T12:00:00Z');
const FREE = { password_required: false, max_days: null, folder_uploads: true };
const STRICT = { password_required: true, max_days: 7, folder_uploads: false };

const link = (changes: Partial<Share>): Share => ({
  id: '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11',
  token: null,
  url: null,
  file_id: null,
  file_name: null,
  folder_id: null,
  folder_name: null,
  mode: 'download',
  created_by: { id: '', name: 'Ada' },
  has_password: false,
  expires_at: null,
  max_downloads: null,
  download_count: 0,
  is_active: true,
  blocked_by: [],
  created_at: NOW.toISOString(),
  etag: 'a',
  ...changes,
});

const draft = (changes: Partial<LinkDraft>, of?: Share): LinkDraft => ({ ...draftOf(of, FREE, NOW), ...changes });

test('a new link without rules asks for nothing, and sends nothing but a null end', () => {
  const empty = draftOf(undefined, FREE, NOW);

  expect(empty).toEqual({ mode: 'download', hasPassword: false, password: '', day: '', downloads: '' });
  expect(faultsOf(empty, undefined, FREE, NOW)).toEqual({});
  expect(termsOf(empty, undefined, FREE, NOW)).toEqual({ expires_at: null });
});

test('the rules are in the form before they refuse: a password, and a day that is not too late', () => {
  const first = underRules(draftOf(undefined, STRICT, NOW), undefined, STRICT);
  const last = dayOf(new Date('2026-03-16T12:00:00Z'));

  expect(first).toMatchObject({ hasPassword: true, day: last });
  expect(faultsOf(first, undefined, STRICT, NOW)).toEqual({ password: 'passwordShort' });
  expect(faultsOf({ ...first, day: '' }, undefined, STRICT, NOW)).toMatchObject({ day: 'endsMissing' });
  expect(faultsOf({ ...first, day: '2026-03-18' }, undefined, STRICT, NOW)).toMatchObject({ day: 'endsLate' });
  expect(faultsOf({ ...first, day: '2026-03-07' }, undefined, STRICT, NOW)).toMatchObject({ day: 'endsPast' });
});

test('rules that change while somebody types apply to the draft, but not to the mode of a link that exists', () => {
  const typed = draft({ mode: 'both' });

  expect(underRules(typed, undefined, STRICT)).toMatchObject({ mode: 'download', hasPassword: true });
  expect(underRules(typed, link({ mode: 'both' }), STRICT)).toMatchObject({ mode: 'both', hasPassword: true });
});

test('the last day that the rules allow is left to the server for a new link, and exact for one that is changed', () => {
  const last = dayOf(new Date('2026-03-16T12:00:00Z'));
  const old = link({ blocked_by: ['max_days'] });

  expect(termsOf(draft({ day: last }), undefined, STRICT, NOW)).toEqual({});
  expect(termsOf(draft({ day: last }), old, STRICT, NOW)).toEqual({ expires_at: '2026-03-16T12:00:00.000Z' });
  expect(termsOf(draft({ day: '2026-03-12' }), old, STRICT, NOW)).toEqual({
    expires_at: endOfDay('2026-03-12').toISOString(),
  });
});

test('a change sends what differs: an empty password keeps the former one, no password removes it', () => {
  const former = link({ has_password: true, expires_at: endOfDay('2026-03-12').toISOString(), max_downloads: 5 });
  const same = draftOf(former, FREE, NOW);

  expect(faultsOf(same, former, FREE, NOW)).toEqual({});
  expect(termsOf(same, former, FREE, NOW)).toEqual({});
  expect(termsOf({ ...same, password: 'four words of mine' }, former, FREE, NOW)).toEqual({ password: 'four words of mine' });
  expect(termsOf({ ...same, hasPassword: false, day: '', downloads: '' }, former, FREE, NOW)).toEqual({
    password: null,
    expires_at: null,
    max_downloads: null,
  });
});

test('a link that has ended keeps its day until another is chosen, and takes none that is past', () => {
  const ended = link({ expires_at: endOfDay('2026-03-01').toISOString() });

  expect(faultsOf(draftOf(ended, FREE, NOW), ended, FREE, NOW)).toEqual({});
  expect(faultsOf(draft({ day: '2026-03-02' }, ended), ended, FREE, NOW)).toEqual({ day: 'endsPast' });
});

test.each(['0', '-1', '1.5', '2147483648', 'many'])(
  '%s is no number of downloads, but does not matter for uploads',
  (downloads) => {
    expect(faultsOf(draft({ downloads }), undefined, FREE, NOW)).toEqual({ downloads: 'downloadsWrong' });
    expect(faultsOf(draft({ downloads, mode: 'upload' }), undefined, FREE, NOW)).toEqual({});
    expect(termsOf(draft({ downloads, mode: 'upload' }), undefined, FREE, NOW)).toEqual({ expires_at: null });
  },
);
