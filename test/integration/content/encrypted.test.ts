import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite();

const MIB = 1 << 20;

/**
 * In front of the real store: it passes everything on as it is, and says of each object that is written how a store that encrypts
 * at rest would have (S3 API, x-amz-server-side-encryption); the store of the tests does not encrypt.
 */
let front: Server;
let encrypts = true;
beforeAll(async () => {
  const store = new URL(tenant.config.CARREL_S3_ENDPOINT);
  front = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const passed = request({ hostname: store.hostname, port: store.port, method, path: url, headers }, (reply) => {
      const isWritten = method === 'PUT' || method === 'POST';
      outgoing.writeHead(reply.statusCode ?? 502, {
        ...reply.headers,
        ...(encrypts && isWritten ? { 'x-amz-server-side-encryption': 'aws:kms' } : {}),
      });
      reply.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  await tenant.restart({ CARREL_S3_ENDPOINT: `http://127.0.0.1:${(front.address() as AddressInfo).port}` });
});
afterAll(() => {
  front.closeAllConnections();
  front.close();
});

const upload = async (api: Api, name: string, file: Buffer): Promise<string> =>
  (await api.upload('/files', { name, file })).body.id;
const isEncrypted = async (api: Api, id: string): Promise<boolean> => (await api.get(`/files/${id}`)).body.is_encrypted;

test('is_encrypted is what the store says of the object: small, large, copied, and of the current version', async () => {
  const { api } = await tenant.user();
  encrypts = true;
  const [small, large] = [await upload(api, 'small', Buffer.from('x')), await upload(api, 'large', Buffer.alloc(9 * MIB))];
  const copy = (await api.post(`/files/${small}/copy`, { name: 'copy' })).body.id;
  encrypts = false;
  const [plain, plainLarge] = [
    await upload(api, 'plain', Buffer.from('x')),
    await upload(api, 'plain large', Buffer.alloc(9 * MIB)),
  ];
  const plainCopy = (await api.post(`/files/${small}/copy`, { name: 'plain copy' })).body.id;

  expect(await Promise.all([small, large, copy].map((id) => isEncrypted(api, id)))).toEqual([true, true, true]);
  expect(await Promise.all([plain, plainLarge, plainCopy].map((id) => isEncrypted(api, id)))).toEqual([false, false, false]);

  await api.upload(`/files/${small}`, { method: 'PUT', name: 'small', file: Buffer.from('y') });
  const second = await isEncrypted(api, small);
  await api.post(`/files/${small}/versions/1/restore`);
  expect([second, await isEncrypted(api, small)]).toEqual([false, true]);
  const listed = (await api.get('/files', { query: { sort: 'name' } })).body.data as { name: string; is_encrypted: boolean }[];
  expect(listed.filter(({ is_encrypted: is }) => is).map(({ name }) => name)).toEqual(['copy', 'large', 'small']);
});
