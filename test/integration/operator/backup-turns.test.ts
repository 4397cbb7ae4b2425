import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { backUpTenants } from '../../../pkg/admin/commands/backup.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys, Sealer } from '../../../pkg/runtime/sealing.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { Registry } from '../../../pkg/store/postgres/registry.ts';
import { Objects, type ObjectsOptions } from '../../../pkg/store/s3/objects.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { fillTenant } from '../../support/data/filled-tenant.ts';
import { operatorEnvironment, secretValues } from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { range } from '../../support/wait.ts';
import { inProcess, type Outcome } from './carrel.ts';

/** Stores of the file's own: its commands back up all tenants that are there. */
const { cluster, namespace, readyTenant, stores } = operatorSuite({ ownStores: true });
let pool: SqlPool;
beforeAll(() => {
  pool = new SqlPool({ url: stores.postgres.operator, poolSize: 2, log: silentLogger });
});
afterAll(() => pool?.close());

const newFolder = (): Promise<string> => mkdtemp(join(testBackends().scratch, 'backups-'));
const backup = (slugs: readonly string[], to: string, mostMs?: number): Promise<Outcome> =>
  inProcess((options) => backUpTenants(slugs, { ...options, to, keep: undefined, mostMs }), operatorEnvironment(stores));

/** An object store that sends the first byte of an object of this size, and no other; without a size, nothing at all. */
async function tricklingStore(size?: number): Promise<{ endpoint: string; close(): void }> {
  const server = createServer((_request, response) => {
    if (size === undefined) return;
    response.writeHead(200, { 'content-length': size });
    response.write('x');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** Makes a tenant with files; `size` is that of one file. */
async function filled(): Promise<{ key: ObjectKey; tenantId: string; size: number }> {
  const key = await readyTenant();
  const tenantId = (await cluster.tenants.get(key)).status?.tenantId ?? '';
  const objects = new Objects((await secretValues(cluster, namespace, `${key.name}-storage`)) as unknown as ObjectsOptions);
  const { keys } = await fillTenant({ pool, slug: key.name, tenantId, objects }, stores.platformKeys);
  const { body, length } = await objects.get(keys[0] ?? '');
  body.destroy();
  objects.close();
  return { key, tenantId, size: length };
}

/** From now on the tenant's objects are looked for there; `named`: as in a store that its Tenant names. */
async function storedAt(tenantId: string, endpoint: string, named: object = {}): Promise<void> {
  const sealer = new Sealer(parseSealingKeys(stores.platformKeys), systemRandom);
  const registry = new Registry({ pool, sealer, clock: systemClock, random: systemRandom });
  const storage = JSON.parse((await registry.getSecret(tenantId, 'storage')) ?? '{}') as object;
  await registry.setSecret(tenantId, 'storage', JSON.stringify({ ...storage, endpoint, ...named }));
}

test.each(['sends a byte and no more', 'sends nothing'])(
  'storage that %s is given up after its time, the others have their backups, and it comes after those that wait longer',
  async (what) => {
    const [slow, next, ...longer] = [
      await filled(),
      await readyTenant(),
      ...(await Promise.all(range(5).map(() => readyTenant()))),
    ];
    const folder = await newFolder();
    const store = await tricklingStore(what === 'sends nothing' ? undefined : slow.size);
    await storedAt(slow.tenantId, store.endpoint);

    // An empty tenant takes a fraction of a second, and some on a busy machine. After 9 s the store would be given up for its
    // silence.
    const first = await backup([slow.key.name, next.name], folder, 8_000);
    const all = await backup([], folder, 8_000);
    store.close();

    expect(first.code).toBe(1);
    expect(first.stderr).toMatch(new RegExp(`^${slow.key.name}: not done within 0.13\\d* minutes: its storage is slow`, 'm'));
    expect(first.stdout).toContain(`${next.name}: backed up to ${folder}`);
    expect(first.stdout).toContain('1 of 2 tenants are backed up completely.');
    const [after = -1, ...lines] = [next, ...longer].map(({ name }) => all.stdout.indexOf(`${name}: backed up`));
    expect([after, ...lines].every((at) => at >= 0)).toBe(true);
    // Four at once: three of those that wait longer are done before its turn, one of which may be the slow one.
    expect(lines.filter((at) => at < after).length).toBeGreaterThanOrEqual(2);
    expect(all.stderr).toContain(`${slow.key.name}: not done within`);
  },
);

test('silent stores of Tenants come last, four at once, so every other tenant has its backup first', async () => {
  const named = await Promise.all(range(5).map(() => filled()));
  const others = await Promise.all(range(6).map(() => readyTenant()));
  const folder = await newFolder();
  const asked = new Set<string>();
  let atOnce = 0;
  let before: string[] | undefined;
  const open = new Map<object, string>();
  const store = createServer((request, response) => {
    before ??= others.map(({ name }) => name).filter((name) => existsSync(join(folder, name)) && hasManifest(join(folder, name)));
    const [, bucket = ''] = new URL(request.url ?? '', 'http://store').pathname.split('/');
    asked.add(bucket);
    open.set(response, bucket);
    atOnce = Math.max(atOnce, new Set(open.values()).size);
    response.on('close', () => open.delete(response));
  });
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(store.address() as AddressInfo).port}`;
  for (const { tenantId, key } of named) await storedAt(tenantId, endpoint, { bucket: key.name, prefix: '', guarded: 'true' });

  // Long enough that four have begun before the first is given up, also on a busy machine.
  const { stdout, stderr } = await backup([], folder, 8_000);
  store.closeAllConnections();
  store.close();

  expect(others.filter(({ name }) => !stdout.includes(`${name}: backed up`))).toEqual([]);
  expect(named.filter(({ key }) => !stderr.includes(`${key.name}: not done within`))).toEqual([]);
  // The last three of the others may be under way still.
  expect(before?.length).toBeGreaterThanOrEqual(others.length - 3);
  expect(asked.size).toBe(named.length);
  expect(atOnce).toBeGreaterThanOrEqual(4);
});

const hasManifest = (folder: string): boolean =>
  readdirSync(folder).some((stamp) => existsSync(join(folder, stamp, 'manifest.json')));
