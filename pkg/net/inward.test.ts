import { expect, test } from '@jest/globals';
import { INWARD_ADDRESSES } from '../../test/support/inward-addresses.ts';
import { isInward, literalInwardAddress, parseAllowedRanges } from './inward.ts';

test.each(INWARD_ADDRESSES)('%s leads inside', (url) => {
  expect(literalInwardAddress(url, [])).toBeDefined();
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
  expect(literalInwardAddress(url, [])).toBeUndefined();
});

test.each(['fe80::1%eth0', '::1%lo', '::ffff:10.0.0.1%eth0', '', 'localhost', '127.1', '10.0.0.1/8', '8.8.8.8 ', 'fe80::1%25eth0'])(
  'the answer %p of a name server is refused',
  (answer) => {
    expect(isInward(answer, [])).toBe(true);
  },
);

test('a range on the list stays reachable, its neighbour does not', () => {
  const allowed = parseAllowedRanges('10.1.0.0/16, 127.0.0.0/8,::1/128');

  expect(isInward('10.1.9.9', allowed)).toBe(false);
  expect(isInward('::ffff:10.1.9.9', allowed)).toBe(false);
  expect(isInward('10.2.0.1', allowed)).toBe(true);
  expect(isInward('fd00::1', allowed)).toBe(true);
  expect(literalInwardAddress('http://receiver.localhost:8080/', allowed)).toBeUndefined();
});

test('localhost stays refused while only one of its two addresses is on the list', () => {
  expect(literalInwardAddress('http://localhost/', parseAllowedRanges('127.0.0.0/8'))).toBe('localhost');
});

test('an entry that is no range is named', () => {
  expect(() => parseAllowedRanges('10.0.0.0/8,loopback')).toThrow('loopback is no address range');
});
