import { expect, test } from '@jest/globals';
import { networkOf, normalise } from './client-address.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8::/64'],
  ['2001:0:0:2::1', '2001:0:0:2::/64'],
  ['::1', '::/64'],
  ['not an address', undefined],
  ['', undefined],
])('the address %j counts as %j', (text, expected) => {
  expect(normalise(text)).toBe(expected);
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2::/64', '2001:db8:1::/56'],
  ['2001:db8:1:1ff::/64', '2001:db8:1:100::/56'],
  ['2001:db8:1:200::/64', '2001:db8:1:200::/56'],
  ['2001:db8::/64', '2001:db8::/56'],
  ['::/64', '::/56'],
  ['unknown', 'unknown'],
])('%j is of the network %j', (address, expected) => {
  expect(networkOf(address)).toBe(expected);
});
