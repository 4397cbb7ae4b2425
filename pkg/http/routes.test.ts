import { expect, test } from '@jest/globals';
import { Routes } from './routes.ts';

const routes = new Routes<string>();
routes.add('get', '/users', 'list');
routes.add('get', '/users/{id}', 'show');
routes.add('put', '/users/{id}', 'replace');
routes.add('get', '/users/me', 'me');
routes.add('get', '/users/me/sessions/{id}', 'own session');
routes.add('delete', '/users/{user}/sessions/{id}', 'end session');

const found = (method: string, path: string) => {
  const { handler, params, methods } = routes.match(method, path);
  return handler ?? [[...methods].sort(), params];
};

test('a path has the handler of its template; a literal path is not an id', () => {
  expect([found('GET', '/users'), found('GET', '/users/1'), found('PUT', '/users/1'), found('GET', '/users/me')]).toEqual([
    'list',
    'show',
    'replace',
    'me',
  ]);
  expect(found('PUT', '/users/me')).toEqual([['GET', 'HEAD'], {}]);
});

test('the template with fewer parameters goes first, and another that has the method is found behind it', () => {
  expect([found('GET', '/users/me/sessions/1'), found('DELETE', '/users/me/sessions/1')]).toEqual(['own session', 'end session']);
  expect(found('POST', '/users/me/sessions/1')).toEqual([['DELETE', 'GET', 'HEAD'], {}]);
});

test('HEAD is answered as GET is; other case, a slash more or an empty parameter is another path', () => {
  expect(found('HEAD', '/users/1')).toBe('show');
  for (const path of ['/Users/1', '/users/', '/users//', '/users/1/', '//users', '/', '']) expect(found('GET', path)).toEqual([[], {}]);
});

test('parameters are decoded; what is not encoded UTF-8 stays as it is', () => {
  expect(routes.match('GET', '/users/a%2Fb%20').params).toEqual({ id: 'a/b ' });
  expect(routes.match('GET', '/users/%ff%').params).toEqual({ id: '%ff%' });
});
