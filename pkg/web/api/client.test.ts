import { expect, test } from '@jest/globals';
import { addressOf } from './client.ts';

test('an address holds escaped path parameters, repeated ones for lists, and name[key] for objects', () => {
  const address = addressOf('/files/{id}/tags', {
    path: { id: 'a/b ü' },
    query: { q: 'x y', tag: ['one', 'two'], metadata: { course: 'history' }, owner: undefined, limit: 50 },
  });

  expect(address).toBe('/api/v1/files/a%2Fb%20%C3%BC/tags?q=x+y&tag=one&tag=two&metadata%5Bcourse%5D=history&limit=50');
});

test('an address without a query has no question mark', () => {
  expect(addressOf('/me', { query: { q: undefined } })).toBe('/api/v1/me');
});
