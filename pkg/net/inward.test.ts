import { expect, test } from '@jest/globals';
import { isInward, literalInwardAddress, parseAllowedRanges } from './inward.ts';

test.each([
  'http://127.0.0.1/x',
  'http://2130706433/',
  'http://0x7f.1/',
  'https://10.1.2.3:8443/',
  'https://169.254.169.254/latest',
  'https://100.64.0.1/',
  'https://[::1]/',
  'https://[::ffff:192.168.0.1]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://[64:ff9b::a00:1]/',
  'https://0.0.0.0/',
  'http://localhost:1/',
  'http://receiver.localhost:8080/hook',
  'http://localhost./',
])('%s leads inside', (url) => {
  expect(literalInwardAddress(url, [])).toBeDefined();
});

test.each(['https://8.8.8.8/', 'https://example.com/', 'https://[2606:4700::1111]/', 'https://localhost.example.com/'])(
  '%s does not',
  (url) => {
    expect(literalInwardAddress(url, [])).toBeUndefined();
  },
);

test('a range on the list stays reachable, its neighbour does not', () => {
  const allowed = parseAllowedRanges('10.1.0.0/16, 127.0.0.0/8,::1/128');

  expect(isInward('10.1.9.9', allowed)).toBe(false);
  expect(isInward('10.2.0.1', allowed)).toBe(true);
  expect(literalInwardAddress('http://receiver.localhost:8080/', allowed)).toBeUndefined();
});

test('an entry that is no range is named', () => {
  expect(() => parseAllowedRanges('10.0.0.0/8,loopback')).toThrow('loopback is no address range');
});
