import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { createAuthority, createCertificate } from './certificates.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

test('server and client trust each other through the authority, and the server learns the name of the client', async () => {
  const now = new Date();
  const ca = createAuthority('test-authority', now);
  const server = createCertificate(ca, { commonName: 'server' }, ['127.0.0.1', 'localhost'], now);
  const client = createCertificate(ca, { commonName: 'the-client', organization: 'people' }, [], now);
  const listener = createServer({
    ca: ca.certificate,
    cert: server.certificate,
    key: server.key,
    requestCert: true,
    rejectUnauthorized: true,
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');

  const accepted = once(listener, 'secureConnection') as Promise<[TLSSocket]>;
  const socket = connect({
    host: '127.0.0.1',
    port: (listener.address() as AddressInfo).port,
    ca: ca.certificate,
    cert: client.certificate,
    key: client.key,
  });
  await once(socket, 'secureConnect');
  const [peer] = await accepted;

  expect(socket.authorized).toBe(true);
  expect(peer.getPeerCertificate().subject).toMatchObject({ CN: 'the-client', O: 'people' });
  socket.destroy();
  peer.destroy();
  listener.close();
});

test('a certificate names its issuer, its addresses and ten years', () => {
  const ca = createAuthority('test-authority', NOW);

  const leaf = new X509Certificate(createCertificate(ca, { commonName: 'x' }, ['127.9.8.1', 'x.localhost'], NOW).certificate);

  expect(leaf.issuer).toBe('CN=test-authority');
  expect(leaf.subjectAltName).toBe('IP Address:127.9.8.1, DNS:x.localhost');
  expect(leaf.validToDate.toISOString()).toBe('2036-03-01T12:00:00.000Z');
  expect(leaf.verify(new X509Certificate(ca.certificate).publicKey)).toBe(true);
});
