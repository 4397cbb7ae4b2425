import { beforeAll, describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { PATH_MAX_CHARACTERS } from '../../../pkg/content/model/names/names.policy.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { untilServed, waitFor } from '../../support/wait.ts';
import { objectCount, quotaOf } from './tenant-state.ts';

const tenant = serverSuite();

beforeAll(async () => {
  const hook = { url: 'https://receiver.example.org/', events: ['file.created'] };
  const { status } = await tenant.admin.post('/webhooks', hook);
  if (status !== 201) throw new Error(`no webhook was made: ${status}`);
});

/**
 * The two ways by which an upload becomes a file: the statement that uploads share (`carrel.store_files_with_crc`), and a
 * transaction of its own (`FileWriter`), which takes uploads that reserved quota.
 */
const WAYS = [
  { way: 'the shared statement', bytes: 1_000, sharesStatement: true },
  { way: 'a transaction', bytes: 9 * 1024 * 1024, sharesStatement: false },
] as const;

/** Ada's folder, and Bob, who may write to it and uploads. */
async function scene() {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const folder = (await ada.api.post('/folders', { name: 'shared' })).body;
  await ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'write', user_id: bob.user.id });
  return { ada, bob, folder };
}
type Scene = Awaited<ReturnType<typeof scene>>;

/** Bob's upload of late.txt. `change` happens once the server has begun to take it, before its last bytes come. */
async function upload(
  { bob }: Scene,
  bytes: number,
  fields: Record<string, string>,
  change: () => Promise<unknown>,
): Promise<{ status: number; error?: string; name?: string; sql: readonly string[] }> {
  const first = tenant.observed.sql.length;
  const file = Readable.from(
    (async function* () {
      yield Buffer.alloc(500, 1);
      await waitFor('the statement that reads the quota before the bytes flow', () =>
        tenant.observed.sql.slice(first).some((sql) => sql.includes('storage_quota')),
      );
      await change();
      yield Buffer.alloc(bytes - 500, 1);
    })(),
  );
  const { status, body } = await bob.api.upload('/files', { file, name: 'late.txt', fields });
  return { status, error: body.error, name: body.name, sql: tenant.observed.sql.slice(first) };
}

interface Case {
  readonly rule: string;
  readonly inFolder: boolean;
  readonly on_conflict?: 'rename';
  readonly change?: (scene: Scene) => Promise<unknown>;
  readonly status: number;
  readonly error?: string;
  readonly name?: string;
}

const takeName = ({ ada, folder }: Scene) =>
  untilServed(() => ada.api.upload('/files', { file: Buffer.from('a'), name: 'late.txt', fields: { folder_id: folder.id } }));

const CASES: readonly Case[] = [
  { rule: 'makes a file in the root', inFolder: false, status: 201, name: 'late.txt' },
  { rule: 'makes a file in a folder that the uploader may write', inFolder: true, status: 201, name: 'late.txt' },
  {
    rule: 'makes no file in a folder that the uploader may only read by then',
    inFolder: true,
    change: ({ ada, bob, folder }) =>
      ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'read', user_id: bob.user.id }),
    status: 403,
    error: 'forbidden',
  },
  {
    rule: 'makes no file in a folder that is in the trash by then',
    inFolder: true,
    change: ({ ada, folder }) => ada.api.delete(`/folders/${folder.id}`),
    status: 404,
    error: 'not_found',
  },
  { rule: 'makes no second file of a name', inFolder: true, change: takeName, status: 409, error: 'name_conflict' },
  {
    rule: 'gives the file another name if it may',
    inFolder: true,
    on_conflict: 'rename',
    change: takeName,
    status: 201,
    name: 'late (1).txt',
  },
  {
    rule: 'makes no file whose path is too long',
    inFolder: true,
    change: ({ folder }) =>
      tenant.db.query(`UPDATE folders SET path = '/' || repeat('p', ${PATH_MAX_CHARACTERS - 5}) WHERE uuid = $1`, [folder.id]),
    status: 400,
    error: 'validation_failed',
  },
  {
    rule: 'makes no file beyond the quota',
    inFolder: false,
    change: ({ bob }) => tenant.db.query('UPDATE users SET storage_quota = 999 WHERE uuid = $1', [bob.user.id]),
    status: 507,
    error: 'quota_exceeded',
  },
];

describe.each(WAYS)('an upload that becomes a file by $way', ({ bytes, sharesStatement }) => {
  test.each(CASES)('$rule', async ({ inFolder, on_conflict, change, status, error, name }) => {
    const made = await scene();
    const { bob, folder } = made;
    // A list that the server caches.
    const usage = async (): Promise<number | undefined> =>
      (await tenant.admin.get('/users', { query: { limit: 100 } })).body.data.find(({ id }: { id: string }) => id === bob.user.id)
        ?.storage_used;
    expect(await usage()).toBe(0);
    const before = { objects: await objectCount(tenant), events: await fileEvents() };
    const fields = { ...(inFolder ? { folder_id: folder.id } : {}), ...(on_conflict ? { on_conflict } : {}) };

    const reply = await upload(made, bytes, fields, async () => change?.(made));

    expect([reply.status, reply.error, reply.name]).toEqual([status, error, name]);
    const isMade = status === 201;
    const others = change === takeName ? 1 : 0;
    expect(await quotaOf(tenant, bob.user.id)).toBe(isMade ? bytes : 0);
    expect(await usage()).toBe(isMade ? bytes : 0);
    expect(await fileEvents()).toBe(before.events + others + (isMade ? 1 : 0));
    expect(await objectCount(tenant)).toBe(before.objects + others + (isMade ? 1 : 0));
    const isPlain = isMade && change === undefined;
    expect(isPlain && reply.sql.some((sql) => sql.includes('store_files'))).toBe(isPlain && sharesStatement);
  });
});

const fileEvents = async (): Promise<number> =>
  (await tenant.db.query(`SELECT id FROM carrel.events WHERE event = 'file.created'`)).length;
