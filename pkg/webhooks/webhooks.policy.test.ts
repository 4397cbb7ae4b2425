import { expect, test } from '@jest/globals';
import { Problem } from '../api/problem.ts';
import { parseAllowedRanges } from '../net/private-address.ts';
import { isOwnHeader, freshStart, isWellFormedSecret, requireAddress, requireOwn } from './webhooks.policy.ts';

const codeOf = (work: () => void): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
  return 'taken';
};

test.each([
  ['https://receiver.example.org', 'taken'],
  ['https://receiver.example.org:8443/hook?a=b', 'taken'],
  ['HTTPS://receiver.example.org/hook', 'validation_failed'],
  ['http://receiver.example.org/hook', 'validation_failed'],
  ['http://127.0.0.1:9000/hook', 'taken'],
  ['http://demo.localhost:9000/hook', 'address_refused'],
  ['https://10.0.0.1/', 'address_refused'],
  ['https://0x0a000001/', 'address_refused'],
  ['https://[::ffff:10.0.0.1]/', 'address_refused'],
  ['https://169.254.169.254/latest', 'address_refused'],
  ['http://10.0.0.1/', 'address_refused'],
  ['https://me:secret@receiver.example.org/', 'validation_failed'],
  ['https://receiver.example.org/#part', 'validation_failed'],
  ['https://receiver.example.org/a b', 'validation_failed'],
  [String.raw`https://receiver.example.org\@10.0.0.1/`, 'validation_failed'],
  ['ftp://receiver.example.org/', 'validation_failed'],
  ['receiver.example.org', 'validation_failed'],
])('the address %s is %s where 127.0.0.0/8 is opened', (url, expected) => {
  expect(codeOf(() => requireAddress(url, parseAllowedRanges('127.0.0.0/8')))).toBe(expected);
});

test('localhost is allowed if both of its addresses are opened', () => {
  expect(codeOf(() => requireAddress('http://demo.localhost/', parseAllowedRanges('127.0.0.0/8,::1/128')))).toBe('taken');
  expect(codeOf(() => requireAddress('http://127.0.0.1/', []))).toBe('address_refused');
});

test.each(['Webhook-Id', 'x-carrel-signature', 'Content-Type', 'Host', 'Proxy-Authorization', 'Keep-Alive'])(
  'the header %s is the delivery’s own',
  (name) => expect(isOwnHeader(name)).toBe(true),
);

test('Authorization and X-Team are not', () => {
  expect(['Authorization', 'X-Team', 'X-Webhook-Id'].map(isOwnHeader)).toEqual([false, false, false]);
});

test.each([
  ['plain text', true],
  ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', true],
  ['whsec_', false],
  ['whsec_not base64', false],
  ['whsec_YQ', false],
])('the secret %j is well formed: %s', (secret, expected) => expect(isWellFormedSecret(secret)).toBe(expected));

test('the refusal to change a managed webhook names its resource', () => {
  expect(() => requireOwn({ managedBy: 'kubernetes', managedRef: 'demo/hook' })).toThrow('Webhook demo/hook manages this');
  expect(() => requireOwn({ managedBy: null, managedRef: null })).not.toThrow();
});

const FAILING = { url: 'https://a.example/', active: true, disabledReason: null };
const DISABLED = { ...FAILING, active: false, disabledReason: 'the receiver answered 410 Gone' };

test.each([
  ['another address', FAILING, { url: 'https://b.example/' }, { failingSince: null }],
  ['the same address', FAILING, { url: FAILING.url, active: true }, {}],
  ['a person disabling it', FAILING, { active: false }, { failingSince: null, disabledReason: null }],
  ['being enabled again', DISABLED, { active: true }, { failingSince: null, disabledReason: null }],
  [
    'a person disabling it after it was disabled for failing',
    DISABLED,
    { active: false },
    { failingSince: null, disabledReason: null },
  ],
])('%s clears the right fields of the record of a webhook', (_what, webhook, changes, cleared) =>
  expect(freshStart(webhook, changes)).toEqual(cleared),
);
