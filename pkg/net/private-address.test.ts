import { expect, test } from '@jest/globals';
import { PRIVATE_ADDRESSES } from '../../test/support/data/private-addresses.ts';
import { isPrivateAddress, literalPrivateAddress, parseAllowedRanges } from './private-address.ts';

test.each(PRIVATE_ADDRESSES)('%s leads to a private address', (url) => {
  expect(literalPrivateAddress(url, [])).toBeDefined();
});

test.each([
  'https://8.8.8.8/',
  'https://172.15.255.255/',
  'https://172.32.0.1/',
  'https://100.128.0.1/',
  'https://example.com/',
  'https://[2606:4700::1111]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[64:ff9b::808:808]/',
  'https://localhost.example.com/',
  'https://notlocalhost/',
])('%s does not', (url) => {
  expect(literalPrivateAddress(url, [])).toBeUndefined();
});

test.each([
  'fe80::1%eth0',
  '::1%lo',
  '::ffff:10.0.0.1%eth0',
  '',
  'localhost',
  '127.1',
  '10.0.0.1/8',
  '8.8.8.8 ',
  'fe80::1%25eth0',
])('the answer %p of a name server is refused', (answer) => {
  expect(isPrivateAddress(answer, [])).toBe(true);
});

test('an allowed range stays reachable, and its neighbour does not', () => {
  const allowed = parseAllowedRanges('10.1.0.0/16, 127.0.0.0/8,::1/128');

  expect(isPrivateAddress('10.1.9.9', allowed)).toBe(false);
  expect(isPrivateAddress('::ffff:10.1.9.9', allowed)).toBe(false);
  expect(isPrivateAddress('10.2.0.1', allowed)).toBe(true);
  expect(isPrivateAddress('fd00::1', allowed)).toBe(true);
  expect(literalPrivateAddress('http://receiver.localhost:8080/', allowed)).toBeUndefined();
});

test('localhost stays refused while only one of its two addresses is allowed', () => {
  expect(literalPrivateAddress('http://localhost/', parseAllowedRanges('127.0.0.0/8'))).toBe('localhost');
});

test('an error names an entry that is not a range', () => {
  expect(() => parseAllowedRanges('10.0.0.0/8,loopback')).toThrow('loopback is not an address range');
});
