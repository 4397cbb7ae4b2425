import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { CHART, helm } from '../../hack/helm.ts';
import type { Api } from '../support/clients/api.ts';
import { signIn, waitReady } from '../support/programs/demo-tenant.ts';
import { kubectlOk } from '../support/programs/platform.ts';
import { waitFor } from '../support/wait.ts';
import { SPACE, TENANT } from './biology.ts';
import { carrelInOperator, inSystem } from './in-system.ts';
import { type Installation, NAMESPACE } from './installation.ts';
import { startLoad } from './load.ts';
import { deliveries } from './receiver.ts';

const SHARD = 'second';
const SERVER = `${SHARD}-postgres`;
const SECRET = `carrel-shard-${SHARD}`;
const FILE = 'after the move.txt';

/**
 * Moves the tenant to a server of its own, which the installation gets for it, by the command that
 * docs/operate/backup-move-restore.md names.
 */
export async function movesUnderLoad(carrel: Installation): Promise<void> {
  const { platform } = carrel;
  await addServer(carrel);
  const shards = [
    { name: 'main', secretName: 'carrel-shard-main' },
    { name: SHARD, secretName: SECRET },
  ];
  await carrel.upgrade({ shards });
  await carrel.rolledOut();
  const { admin, apiUrl } = await signIn(platform, SPACE, TENANT);
  const before = await countFolders(admin);
  const load = startLoad(admin, apiUrl);
  let moved = '';
  try {
    moved = await waitFor('the move', () =>
      carrelInOperator(carrel, 'tenants', 'move', TENANT, '--to', SHARD).catch(untilPrepared),
    );
  } finally {
    await load.stop();
  }
  carrel.say(`${moved.trim().split('\n').join(' ')} ${JSON.stringify(load.outcomes)}`);
  assert.match(moved, new RegExp(`rows are on shard ${SHARD}, read back and verified[^]*its pods use shard ${SHARD}`));
  const acknowledged = load.outcomes['POST 201'] ?? 0;
  assert.ok((await countFolders(admin)) >= before + acknowledged, `not all of ${before} + ${acknowledged} folders are there`);
  // Nothing but the answer that asks to come again: to writes while the rows are copied, to all that former pods get after the
  // switch.
  const outcomes = Object.keys(load.outcomes).toSorted();
  assert.deepEqual(
    outcomes.filter((outcome) => !outcome.endsWith(' 503 with Retry-After')),
    ['GET 200', 'POST 201'],
    outcomes.join(', '),
  );

  await waitReady(platform, SPACE, `tenant/${TENANT}`);
  assert.equal((await admin.upload('/files', { file: Buffer.from('moved'), name: FILE })).status, 201);
  await waitFor('its delivery from the other shard', async () =>
    (await deliveries(platform)).some(({ body }) => body.includes(FILE)),
  );
}

/** The operator makes the platform's tables on a new shard within some seconds. */
function untilPrepared(error: unknown): undefined {
  if (error instanceof Error && error.message.includes('try again')) return undefined;
  throw error;
}

async function countFolders(admin: Api): Promise<number> {
  let count = 0;
  for (let cursor = ''; ;) {
    const { status, body } = await admin.get(`/folders?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    assert.equal(status, 200);
    count += body.data.length;
    if (!body.pagination.has_more) return count;
    cursor = body.pagination.next_cursor;
  }
}

/** The chart's Postgres for a try once more, under another name, and the Secrets by which it is a shard. */
async function addServer(carrel: Installation): Promise<void> {
  const { cluster, platform } = carrel;
  await cluster.addVolume(NAMESPACE, `data-${SERVER}-0`, '5Gi');
  const password = (): string => randomBytes(16).toString('hex');
  const [superuser, operator, worker] = [password(), password(), password()] as const;
  const secret = (name: string, values: Record<string, string>): Promise<string> =>
    inSystem(
      carrel,
      'create',
      'secret',
      'generic',
      name,
      ...Object.entries(values).map(([key, value]) => `--from-literal=${key}=${value}`),
    );
  await secret(SERVER, { 'superuser-password': superuser, 'operator-password': operator, 'worker-password': worker });
  await secret(SECRET, {
    url: `postgres://carrel_operator:${operator}@${SERVER}:5432/carrel`,
    'worker-url': `postgres://carrel_worker:${worker}@${SERVER}:5432/carrel`,
    'tenant-address': `${SERVER}.${NAMESPACE}:5432`,
  });
  const values = {
    shards: [{ name: SHARD, secretName: SECRET }],
    tenants: { baseDomain: 'carrel.localhost' },
    dependencies: { postgres: { enabled: true, secretName: SERVER }, valkey: { enabled: true }, versitygw: { enabled: true } },
  };
  const { output, code } = await helm(
    [
      'template',
      SHARD,
      CHART,
      '--namespace',
      NAMESPACE,
      '--show-only',
      'templates/dependencies/postgres.yaml',
      '--set-json',
      JSON.stringify(values),
    ],
    { folder: cluster.layout.scratch },
  );
  assert.equal(code, 0, output);
  await kubectlOk(platform, ['apply', '--server-side', '-f', '-'], output);
  await inSystem(carrel, 'rollout', 'status', `statefulset/${SERVER}`, '--timeout=90s');
}
