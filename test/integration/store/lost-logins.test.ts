import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { newTenant } from '../../support/backends/tenant.ts';

const { running, shard } = storeSuite();

/** PostgreSQL, Message Formats: ReadyForQuery, outside a transaction. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
/** ErrorResponse, as a backend sends it when the server has been killed. */
const KILLED = errorResponse({
  S: 'FATAL',
  V: 'FATAL',
  C: '57P01',
  M: 'terminating connection due to unexpected postmaster exit',
});

function errorResponse(fields: Readonly<Record<string, string>>): Buffer {
  const text = Object.entries(fields).map(([name, value]) => `${name}${value}\0`);
  const body = Buffer.from(`${text.join('')}\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** A way to Postgres on which the first `lost` logins end in the moment in which they succeed, by one packet. */
async function relay(url: string, lost: number): Promise<{ url: string; logins(): number; close(): void }> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let logins = 0;
  const server = createServer((client) => {
    const postgres = connect(Number(target.port), target.hostname);
    sockets.add(client).add(postgres);
    client.on('error', () => postgres.destroy()).on('close', () => postgres.destroy());
    postgres.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.pipe(postgres);
    let isLoggedIn = false;
    postgres.on('data', (data) => {
      const isReady = data.subarray(-READY.length).equals(READY);
      if (isReady && !isLoggedIn) {
        isLoggedIn = true;
        logins += 1;
        if (logins <= lost) return client.end(Buffer.concat([data, KILLED]));
      }
      client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const by = new URL(url);
  by.hostname = '127.0.0.1';
  by.port = String((server.address() as AddressInfo).port);
  return {
    url: by.href,
    logins: () => logins,
    close: () => {
      sockets.forEach((socket) => socket.destroy());
      server.close();
    },
  };
}

const outcome = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

test.each<[string, (url: string) => { ping(): Promise<void>; close(): Promise<void> }]>([
  ["a tenant's database", (url) => new Database({ url, poolSize: 1, log: silentLogger })],
  ["a platform's pool", (url) => new SqlPool({ url, poolSize: 1, log: silentLogger })],
])('%s outlives a server that is killed in the moment of a login, and logs in again', async (_what, open) => {
  const { url } = await newTenant(running, shard);
  const way = await relay(url, 2);
  const pool = open(way.url);

  try {
    const outcomes = [await outcome(pool.ping()), await outcome(pool.ping()), await outcome(pool.ping())];
    expect(outcomes.filter((each) => each !== undefined && !(each instanceof StoreUnavailableError))).toEqual([]);
    expect(outcomes.at(-1)).toBeUndefined();
    expect(way.logins()).toBeGreaterThan(2);
  } finally {
    await pool.close();
    way.close();
  }
});
