import { describe, expect, test } from '@jest/globals';
import { DEFAULT_LINK_POLICY, type LinkPolicy } from '../../settings/link-policy.sql.ts';
import { brokenRules, latestEnd, requireLawful, requireLawfulChange, type RuledLink } from './link-rules.policy.ts';

const MADE = new Date('2026-03-20T12:00:00Z');
const policy = (rules: Partial<LinkPolicy> = {}): LinkPolicy => ({ ...DEFAULT_LINK_POLICY, ...rules });
const link = (fields: Partial<RuledLink> = {}): RuledLink => ({
  passwordHash: null,
  createdAt: MADE,
  expiresAt: null,
  mode: 'download',
  ...fields,
});
const at = (time: string): Date => new Date(time);

test('the policy of a tenant that sets none allows every link', () => {
  expect(brokenRules(policy(), link({ mode: 'both' }))).toEqual([]);
});

describe('a link breaks', () => {
  test.each<[string, Partial<LinkPolicy>, Partial<RuledLink>, string[]]>([
    ['disabled, whatever it is', { enabled: false }, { passwordHash: 'hash' }, ['disabled']],
    ['password_required without a password', { passwordRequired: true }, {}, ['password_required']],
    ['nothing with a password', { passwordRequired: true }, { passwordHash: 'hash' }, []],
    ['max_days without an end', { maxDays: 10 }, {}, ['max_days']],
    ['max_days by a millisecond', { maxDays: 10 }, { expiresAt: at('2026-03-30T12:00:00.001Z') }, ['max_days']],
    ['nothing where it ends in time, by days of 24 hours', { maxDays: 10 }, { expiresAt: at('2026-03-30T12:00:00Z') }, []],
    ['folder_uploads as a file request', { folderUploads: false }, { mode: 'upload' }, ['folder_uploads']],
    ['folder_uploads where it takes uploads too', { folderUploads: false }, { mode: 'both' }, ['folder_uploads']],
    ['nothing where it is for downloads', { folderUploads: false }, {}, []],
    [
      'all rules at once',
      { enabled: false, passwordRequired: true, maxDays: 1, folderUploads: false },
      { mode: 'upload' },
      ['disabled', 'password_required', 'max_days', 'folder_uploads'],
    ],
  ])('%s', (_name, rules, fields, broken) => {
    expect(brokenRules(policy(rules), link(fields))).toEqual(broken);
  });
});

test('the refusal names the rule and the remedy', () => {
  expect(() => requireLawful(policy({ maxDays: 10 }), link())).toThrow(
    'max_days: this share link must end by 2026-03-30T12:00:00.000Z; set `expires_at` to that time or earlier, or make a ' +
      'new link.',
  );
  expect(() => requireLawful(policy({ passwordRequired: true }), link())).toThrow(
    'password_required: a share link needs a password',
  );
  expect(() => requireLawful(policy({ enabled: false }), link())).toThrow('disabled: share links are switched off here');
  expect(() => requireLawful(policy({ folderUploads: false }), link({ mode: 'both' }))).toThrow('send the mode `download`');
});

describe('a change of a link that breaks rules already', () => {
  const strict = policy({ passwordRequired: true, maxDays: 10 });
  const change = (after: Partial<RuledLink>, changes: object) => () => requireLawfulChange(strict, link(), link(after), changes);

  test('may make it lawful step by step, and may be about something else', () => {
    expect(change({ passwordHash: 'hash' }, { password: 'long password' })).not.toThrow();
    expect(change({ expiresAt: at('2026-03-21T12:00:00Z') }, { expires_at: '2026-03-21T12:00:00Z' })).not.toThrow();
    expect(change({}, { is_active: false })).not.toThrow();
  });

  test('is refused where a field of it breaks a rule', () => {
    expect(change({}, { password: null })).toThrow('password_required');
    expect(change({ expiresAt: at('2027-01-01T00:00:00Z') }, { expires_at: '2027-01-01T00:00:00Z' })).toThrow('max_days');
  });
});

test('a change that breaks a rule which the link followed is refused', () => {
  const before = link({ passwordHash: 'hash' });

  expect(() => requireLawfulChange(policy({ passwordRequired: true }), before, link(), { password: null })).toThrow(
    'password_required',
  );
});

test('the latest end is counted from when the link was made', () => {
  expect(latestEnd(policy({ maxDays: 1 }), MADE)).toEqual(at('2026-03-21T12:00:00Z'));
  expect(latestEnd(policy(), MADE)).toBeNull();
});
