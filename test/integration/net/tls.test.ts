import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, expect, test } from '@jest/globals';
import { type CertificatePair, createAuthority, createCertificate } from '../../../pkg/local/programs/certificates.ts';
import { parseTrustedCertificates, trustCertificates } from '../../../pkg/runtime/trusted-certificates.ts';
import { Net, refusal } from './harness.ts';

const net = new Net();
afterAll(() => net.close());

const NOW = new Date();
const LONG_AGO = new Date('2001-01-01T00:00:00Z');
const authority = createAuthority('Carrel test authority', NOW);
const stranger = createAuthority('Nobody', NOW);

/** A server that tells the name it was asked for, its port. */
async function secureServer(certificate: CertificatePair): Promise<number> {
  return net.listen(
    createServer({ cert: certificate.certificate, key: certificate.key }, (request, response) => {
      const socket = request.socket as TLSSocket & { servername?: string | false };
      response.end(`${request.headers.host} ${String(socket.servername)} ${request.httpVersion}`);
    }),
  );
}

const certificateFor = (names: string[], by = authority, now = NOW): CertificatePair =>
  createCertificate(by, { commonName: 'server' }, names, now);

const client = () => net.client({ ca: [authority.certificate], resolve: async () => ['127.0.0.1'] });

test('Host, server name and certificate are those of the URL, though an address was dialled', async () => {
  const port = await secureServer(certificateFor(['hooks.example.com']));

  const reply = await client().request({ url: `https://hooks.example.com:${port}/` });

  expect(reply.body.toString()).toBe(`hooks.example.com:${port} hooks.example.com 1.1`);
});

test('an address in the URL needs a certificate for that address', async () => {
  const good = await secureServer(certificateFor(['127.0.0.1']));
  const other = await secureServer(certificateFor(['hooks.example.com', '127.0.0.2']));

  expect((await client().request({ url: `https://127.0.0.1:${good}/` })).status).toBe(200);
  expect(await refusal(client().request({ url: `https://127.0.0.1:${other}/` }))).toMatchObject({ code: 'tls_failed' });
});

test.each([
  ['of another name', certificateFor(['other.example.com']), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['of an unknown authority', certificateFor(['hooks.example.com'], stranger), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['that has run out', certificateFor(['hooks.example.com'], authority, LONG_AGO), 'CERT_HAS_EXPIRED'],
])('a certificate %s is refused, also where the environment asks for none', async (_, certificate, reason) => {
  const port = await secureServer(certificate);
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  try {
    const error = await refusal(client().request({ url: `https://hooks.example.com:${port}/?token=secret` }));

    expect(error).toMatchObject({
      code: 'tls_failed',
      message: `hooks.example.com has no valid TLS certificate or does not speak TLS (${reason})`,
    });
  } finally {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  }
});

test('the authorities of the installation are trusted beside the public ones, and no other is', async () => {
  const [ours, theirs] = [
    await secureServer(certificateFor(['127.0.0.1'])),
    await secureServer(certificateFor(['127.0.0.1'], stranger)),
  ];
  // Node drops duplicates, which an environment's own bundle may bring.
  const authorities = () => new Set(getCACertificates('default').map((pem) => new X509Certificate(pem).fingerprint256));
  const [before, known] = [getCACertificates('default'), authorities()];
  try {
    trustCertificates(parseTrustedCertificates(authority.certificate));

    expect(authorities()).toEqual(new Set([...known, new X509Certificate(authority.certificate).fingerprint256]));
    expect((await net.client().request({ url: `https://127.0.0.1:${ours}/` })).status).toBe(200);
    expect(await refusal(net.client().request({ url: `https://127.0.0.1:${theirs}/` }))).toMatchObject({ code: 'tls_failed' });
  } finally {
    setDefaultCACertificates(before);
  }

  expect(await refusal(net.client().request({ url: `https://127.0.0.1:${ours}/` }))).toMatchObject({ code: 'tls_failed' });
});

test('a server that speaks no TLS, ends the greeting or never answers it is refused in time', async () => {
  const plain = await net.http((_, response) => response.end());
  const ending = await net.raw((socket) => socket.resetAndDestroy());
  const silent = await net.listen(createTcpServer((socket) => socket.on('error', () => undefined)));
  const within = (connectMs: number) => net.client({ resolve: async () => ['127.0.0.1'], limits: { connectMs } });
  const [patient, quick] = [within(60_000), within(200)];

  expect(await refusal(patient.request({ url: `https://hooks.example.com:${plain}/` }))).toMatchObject({ code: 'tls_failed' });
  expect(await refusal(patient.request({ url: `https://hooks.example.com:${ending}/` }))).toMatchObject({
    code: 'connect_failed',
  });
  expect(await refusal(quick.request({ url: `https://hooks.example.com:${silent}/` }))).toMatchObject({
    code: 'connect_timeout',
  });
});

test('a keep-alive connection of one origin is never used for another name at the same address', async () => {
  const port = await secureServer(certificateFor(['hooks.example.com']));
  let opened = 0;
  const client = net.client({
    ca: [authority.certificate],
    limits: { connectionsPerOrigin: 1 },
    resolve: async () => ['127.0.0.1'],
    openSocket: (to) => (opened++, connect(to)),
  });

  await client.request({ url: `https://hooks.example.com:${port}/` });
  await client.request({ url: `https://hooks.example.com:${port}/` });

  expect(opened).toBe(1);
  expect(await refusal(client.request({ url: `https://other.example.com:${port}/` }))).toMatchObject({ code: 'tls_failed' });
  expect(opened).toBe(2);
});
