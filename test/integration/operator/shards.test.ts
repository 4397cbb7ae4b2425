import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { readShards, Shards } from '../../../pkg/operator/shards.ts';
import { systemClock as clock } from '../../../pkg/runtime/clock.ts';
import { silentLogger as log } from '../../../pkg/runtime/log.ts';
import { systemRandom as random } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys, Sealer } from '../../../pkg/runtime/sealing.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { stores, type TestStores } from '../../support/backends/stores.ts';

let running: TestStores;
let silent: Server;
let dials = 0;

beforeAll(async () => {
  running = await stores();
  silent = createServer((socket) => {
    dials += 1;
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  silent?.close();
  await running?.stop();
});

/** The shards of these names and addresses, as the operator reads them. */
async function shardsAt(urls: Record<string, string>): Promise<Shards> {
  const dir = await mkdtemp(join(testBackends().scratch, 'shards-'));
  for (const [name, url] of Object.entries(urls)) {
    await mkdir(join(dir, name));
    await Promise.all([writeFile(join(dir, name, 'url'), url), writeFile(join(dir, name, 'tenant-address'), 'unused:5432')]);
  }
  const sealer = new Sealer(parseSealingKeys(running.platformKeys), random);
  return new Shards({ shards: readShards(dir), sealer, clock, random, log });
}

test('a shard that does not answer is asked for its budget once in 10 s, and holds up no other one', async () => {
  const shards = await shardsAt({
    main: running.postgres.operator,
    away: `postgres://o:p@127.0.0.1:${(silent.address() as AddressInfo).port}/carrel`,
  });

  const main = await shards.connectionBudget('main');
  const dialsForMain = dials;
  const first = await shards.connectionBudget('away').catch((error: Error) => error.name);
  const dialsForAway = dials;
  const second = await shards.connectionBudget('away').catch((error: Error) => error.name);

  expect(main).toBeGreaterThan(0);
  expect([dialsForMain, first, second, dials]).toEqual([0, 'StoreUnavailableError', 'StoreUnavailableError', dialsForAway]);
  expect(dialsForAway).toBeGreaterThan(0);
  await shards.close();
});

test('a shard whose name comes before that of the one with the registry gets no second registry', async () => {
  const another = await stores();
  const [{ operator: main }, { operator: archive }] = [running.postgres, another.postgres];
  const before = await shardsAt({ main });
  await before.registry();

  const wrong = await shardsAt({ archive, main });
  const refused = await wrong.registry().catch((error: Error) => error);
  const right = await shardsAt({ main, second: archive });
  await right.registry();

  expect(refused).toMatchObject({ reason: 'ShardUnfit', message: expect.stringContaining('the registry is in shard main') });
  const { pool } = await right.open('second');
  expect(await pool.query(`SELECT FROM pg_namespace WHERE nspname = 'registry'`)).toEqual([]);
  await Promise.all([before, wrong, right].map((each) => each.close()));
  await another.stop();
});
