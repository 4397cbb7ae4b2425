import { connect } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { PRIVATE_ADDRESSES } from '../../support/data/private-addresses.ts';
import { Net, NOTHING_ALLOWED, refusal } from './harness.ts';

const net = new Net();
afterAll(() => net.close());

/** Stands for any public address; nothing listens there for us. */
const PUBLIC = '8.8.8.8';

const neverOpened = (): never => {
  throw new Error('a connection was begun');
};

test.each([
  ['a private IPv4 address', ['10.0.0.1']],
  ['a metadata service', ['169.254.169.254']],
  ['a private IPv6 address', ['fd00:ec2::254']],
  ['a mapped one', ['::ffff:127.0.0.1']],
  ['a link-local one with its zone', ['fe80::1%eth0']],
  ['a public and a private address', [PUBLIC, '10.0.0.1']],
  ['a private address behind many public ones', [...Array.from({ length: 40 }, (_, i) => `8.8.4.${i}`), '127.0.0.1']],
  ['something that is no address', ['0x7f.1']],
])('a name that resolves to %s is refused before a connection is begun', async (_, answer) => {
  const client = net.client({ allow: NOTHING_ALLOWED, resolve: async () => answer, openSocket: neverOpened });

  const error = await refusal(client.request({ url: 'https://hooks.example.com/x?token=secret' }));

  expect(error).toMatchObject({ code: 'address_refused', message: 'hooks.example.com leads to a private address' });
});

test.each(PRIVATE_ADDRESSES)('%s is refused without a look-up', async (url) => {
  const client = net.client({ allow: NOTHING_ALLOWED, resolve: neverOpened, openSocket: neverOpened });

  expect(await refusal(client.request({ url }))).toMatchObject({ code: 'address_refused' });
});

test('a name server cannot change its answer between check and connection: the checked address is dialled', async () => {
  const answers = [[PUBLIC], ['127.0.0.1'], ['127.0.0.1']];
  const dialled: string[] = [];
  let asked = 0;
  const client = net.client({
    allow: NOTHING_ALLOWED,
    resolve: async () => answers[asked++] ?? [],
    openSocket: ({ host }) => {
      dialled.push(host);
      return connect({ host: '127.0.0.1', port: 1 }); // nothing listens there
    },
  });

  const error = await refusal(client.request({ url: 'https://rebind.example.com/' }));

  expect(error.code).toBe('connect_failed');
  expect({ asked, dialled }).toEqual({ asked: 1, dialled: [PUBLIC] });
  expect(await refusal(client.request({ url: 'https://rebind.example.com/' }))).toMatchObject({ code: 'address_refused' });
  expect(dialled).toEqual([PUBLIC]);
});

test('a checked public address whose connection ends up on loopback is refused by its peer, and not a byte is sent', async () => {
  let connections = 0;
  let bytes = 0;
  const port = await net.listen(
    (await import('node:net')).createServer((socket) => {
      connections++;
      socket.on('error', () => undefined).on('data', (chunk) => (bytes += chunk.length));
    }),
  );
  const client = net.client({
    allow: NOTHING_ALLOWED,
    plainHttp: 'anywhere',
    resolve: async () => [PUBLIC],
    openSocket: () => connect({ host: '127.0.0.1', port }),
  });

  for (const url of ['http://lies.example.com/', 'https://lies.example.com/', `http://${PUBLIC}/`]) {
    expect(await refusal(client.request({ url, method: 'POST', body: 'x' }))).toMatchObject({ code: 'address_refused' });
  }

  expect({ connections, bytes }).toEqual({ connections: 3, bytes: 0 });
});

test('localhost and names below it lead to loopback where that is allowed, whatever the resolver says', async () => {
  const port = await net.http((request, response) => response.end(request.headers.host));
  const client = net.client({ resolve: neverOpened });

  for (const host of ['localhost', 'receiver.localhost', 'lti.general.localhost', '127.0.0.1', '2130706433']) {
    const reply = await client.request({ url: `http://${host}:${port}/` });
    expect(reply.body.toString()).toBe(`${host === '2130706433' ? '127.0.0.1' : host}:${port}`);
  }
});

test('a dead address of a name does not keep the next one from being tried', async () => {
  const port = await net.http((_, response) => response.end('here'));
  const client = net.client({ resolve: async () => ['127.0.0.9', '127.0.0.1'] });

  expect((await client.request({ url: `http://two.example.com:${port}/` })).body.toString()).toBe('here');
});

test('http goes only to addresses that were opened, unless the client is for any', async () => {
  const client = net.client({ resolve: async () => [PUBLIC], openSocket: neverOpened });

  expect(await refusal(client.request({ url: 'http://hooks.example.com/' }))).toMatchObject({ code: 'plain_http_refused' });
  expect(await refusal(client.request({ url: `http://${PUBLIC}/` }))).toMatchObject({ code: 'plain_http_refused' });
});

test('a name that is not known, and one whose resolver is silent, end as what they are', async () => {
  const unknown = net.client({ resolve: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })) });
  const empty = net.client({ resolve: async () => [] });
  const silent = net.client({ resolve: () => new Promise(() => undefined), limits: { connectMs: 100 } });

  expect(await refusal(unknown.request({ url: 'https://gone.example.com/' }))).toMatchObject({ code: 'dns_failed' });
  expect(await refusal(empty.request({ url: 'https://gone.example.com/' }))).toMatchObject({ code: 'dns_failed' });
  expect(await refusal(silent.request({ url: 'https://slow.example.com/' }))).toMatchObject({ code: 'connect_timeout' });
});

test.each([
  ['ftp://example.com/', 'url_refused'],
  ['file:///etc/passwd', 'url_refused'],
  ['gopher://127.0.0.1:6379/_FLUSHALL', 'url_refused'],
  ['data:text/plain,x', 'url_refused'],
  ['/relative', 'url_refused'],
  ['https://[fe80::1%25eth0]/', 'url_refused'],
  ['https://', 'url_refused'],
  ['https://user:hunter2@example.com/', 'url_refused'],
  ['https://example.com@127.0.0.1/', 'url_refused'],
  ['https://127.0.0.1\\@example.com/', 'address_refused'],
  ['https://127.0.0.1#@example.com/', 'address_refused'],
])('%s is refused', async (url, code) => {
  const client = net.client({ allow: NOTHING_ALLOWED, resolve: neverOpened, openSocket: neverOpened });

  const error = await refusal(client.request({ url }));

  expect(error.code).toBe(code);
  expect(error.message).not.toContain('hunter2');
});
