import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { systemResolver } from '../../../pkg/net/resolve.ts';

const TYPE_A = 1;
const NXDOMAIN = 3;
const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

/** A name server on loopback that knows A records alone: the addresses of a name, undefined for no answer at all. */
async function nameServer(records: (name: string) => string[] | undefined): Promise<string> {
  const socket = createSocket('udp4');
  open.push(socket);
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query);
    const addresses = records(name);
    if (addresses !== undefined)
      socket.send(replyTo(query, end, type === TYPE_A ? addresses : [], addresses.length === 0), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return `127.0.0.1:${socket.address().port}`;
}

/** RFC 1035 §4.1.2: labels with their lengths, type, class. */
function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function replyTo(query: Buffer, end: number, addresses: string[], isUnknown: boolean): Buffer {
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(0x8180 | (isUnknown ? NXDOMAIN : 0), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8); // no authority, no additional records
  const answers = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...answers]);
}

test('a name has all the addresses that the name server gives', async () => {
  const server = await nameServer(() => ['192.0.2.1', '10.0.0.1']);

  expect((await systemResolver([server])('both.example.com')).toSorted()).toEqual(['10.0.0.1', '192.0.2.1']);
});

test('a name that name servers do not know is looked up as the system does', async () => {
  const server = await nameServer(() => []);

  expect(await systemResolver([server])('localhost')).toEqual(expect.arrayContaining(['127.0.0.1']));
  await expect(systemResolver([server])('nobody.invalid')).rejects.toMatchObject({ syscall: 'getaddrinfo' });
});

test('twenty names of a silent name server do not hold up others', async () => {
  const server = await nameServer((name) => (name.startsWith('silent') ? undefined : ['192.0.2.1']));
  const resolve = systemResolver([server]);
  const silent = Array.from({ length: 20 }, (_, index) =>
    resolve(`silent-${index}.example.com`).catch((error: unknown) => error),
  );

  expect(await Promise.race([resolve('good.example.com'), ...silent])).toEqual(['192.0.2.1']);
  for (const error of await Promise.all(silent)) expect(error).toMatchObject({ code: 'ETIMEOUT' });
});
