import { expect, test } from '@jest/globals';
import { searchAddress } from './search-address.ts';

test.each([
  [{}, '/search'],
  [{ q: '', kind: '' }, '/search'],
  [{ q: '', tag: 'a-b' }, '/search?tag=a-b'],
  [{ q: 'a+b & ä', kind: 'image/*' }, '/search?q=a%2Bb+%26+%C3%A4&kind=image%2F*'],
])('the address of the search %j is %s', (search, address) => {
  expect(searchAddress(search)).toBe(address);
});
