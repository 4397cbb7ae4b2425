import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from '@jest/globals';
import Koa from 'koa';
import type { Context } from './request-state.ts';
import { mountRoutes } from './routes.ts';

const route = (method: 'get' | 'put' | 'delete', path: string, name: string) => ({
  method,
  path,
  handle: async (ctx: Context) => void (ctx.body = { name, params: ctx.params as Record<string, string> }),
});

const app = new Koa().use(
  mountRoutes(
    '',
    [
      route('get', '/users', 'list'),
      route('get', '/users/{id}', 'show'),
      route('put', '/users/{id}', 'replace'),
      route('get', '/users/me', 'me'),
      route('get', '/users/me/sessions/{id}', 'own session'),
      route('delete', '/users/{user}/sessions/{id}', 'end session'),
    ],
    async (ctx, methods) => void (ctx.body = { name: [...methods].sort(), params: {} }),
  ),
);
const server = app.listen(0, '127.0.0.1');
afterAll(() => void server.close());

/** Sends the path exactly as written. */
async function ask(method: string, path: string): Promise<{ name: string | string[]; params: Record<string, string> }> {
  if (!server.listening) await once(server, 'listening');
  const sent = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', method, path, agent: false }).end();
  const [reply] = await once(sent, 'response');
  return JSON.parse(method === 'HEAD' ? `{"name":"${reply.headers['content-length']}"}` : await text(reply));
}
const found = async (method: string, path: string) => (await ask(method, path)).name;

test('a path has the handler of its template; a literal path is not an id', async () => {
  expect([
    await found('GET', '/users'),
    await found('GET', '/users/1'),
    await found('PUT', '/users/1'),
    await found('GET', '/users/me'),
  ]).toEqual(['list', 'show', 'replace', 'me']);
  expect(await found('PUT', '/users/me')).toEqual(['GET', 'HEAD']);
});

test('the template with fewer parameters comes first, and a later one that has the method is found', async () => {
  expect([await found('GET', '/users/me/sessions/1'), await found('DELETE', '/users/me/sessions/1')]).toEqual([
    'own session',
    'end session',
  ]);
  expect(await found('POST', '/users/me/sessions/1')).toEqual(['DELETE', 'GET', 'HEAD']);
});

test('HEAD is answered as GET is; different case, an extra slash or an empty parameter is another path', async () => {
  expect(await found('HEAD', '/users/1')).toBe(String(JSON.stringify({ name: 'show', params: { id: '1' } }).length));
  for (const path of ['/Users/1', '/users/', '/users//', '/users/1/', '//users', '/'])
    expect(await found('GET', path)).toEqual([]);
});

test('parameters are decoded; text that is not encoded UTF-8 stays unchanged', async () => {
  expect((await ask('GET', '/users/a%2Fb%20')).params).toEqual({ id: 'a/b ' });
  expect((await ask('GET', '/users/%ff%')).params).toEqual({ id: '%ff%' });
});
