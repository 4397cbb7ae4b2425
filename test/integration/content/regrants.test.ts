import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { range, untilServed } from '../../support/wait.ts';
import { faultsOf } from './tenant-state.ts';

let aheadMs = 0;
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
const tenant = serverSuite({ clock });

type Person = Awaited<ReturnType<TestTenant['user']>>;

const inSeconds = (seconds: number): string => new Date(clock.now().getTime() + seconds * 1000).toISOString();
const grant = (by: Person, path: string, to: Person, permission_level: string, terms: object = {}): Promise<ApiReply> =>
  by.api.post(`${path}/permissions`, { permission_level, user_id: to.user.id, ...terms });
const reads = async (who: Person, file: { id: string }): Promise<number> => (await who.api.get(`/files/${file.id}`)).status;

/** Ada's folder with a file in it; Bob is its admin, until then if that is said; Carl has nothing. */
async function adminBob(terms: object = {}) {
  const [ada, bob, carl] = [await tenant.user(), await tenant.user(), await tenant.user()];
  const folder = (await ada.api.post('/folders', { name: 'shared' })).body;
  const file = (await ada.api.upload('/files', { file: Buffer.from('ada'), name: 'a.txt', fields: { folder_id: folder.id } }))
    .body;
  const [onFolder, onFile] = [`/folders/${folder.id}`, `/files/${file.id}`];
  const bobs = (await grant(ada, onFolder, bob, 'admin', terms)).body;
  return { ada, bob, carl, folder, file, onFolder, onFile, bobs };
}

async function groupOf(...people: Person[]): Promise<string> {
  const { body } = await tenant.admin.post('/groups', { name: `team ${systemRandom.hex(4)}` });
  for (const { user } of people) await tenant.admin.put(`/groups/${body.id}/members/${user.id}`);
  return body.id;
}

describe('a temporary admin', () => {
  test('cannot make that longer, nor change what they have in any way', async () => {
    const { ada, bob, file, onFolder, bobs } = await adminBob({ expires_at: inSeconds(60) });

    for (const terms of [{}, { expires_at: null }, { expires_at: inSeconds(3600) }, { expires_at: inSeconds(30) }]) {
      const refused = await grant(bob, onFolder, bob, 'admin', terms);
      expect(refused).toMatchObject({ status: 403, body: { error: 'forbidden' } });
      expect(refused.body.message).toMatch(/your own grant/);
    }
    expect((await ada.api.get(`${onFolder}/permissions`)).body.data).toEqual([bobs]);

    aheadMs += 61_000;
    expect(await reads(bob, file)).toBe(404);
  });

  test('gives grants that end with theirs by default, and none that end later', async () => {
    const expires_at = inSeconds(60);
    const { bob, carl, file, onFile, onFolder } = await adminBob({ expires_at });

    const later = await grant(bob, onFile, carl, 'read', { expires_at: inSeconds(61) });
    expect(later).toMatchObject({ status: 400, body: { error: 'validation_failed', details: [{ field: 'expires_at' }] } });
    expect(later.body.message).toContain(expires_at);

    expect((await grant(bob, onFile, carl, 'read')).body.expires_at).toBe(expires_at);
    expect((await grant(bob, onFile, carl, 'read', { expires_at: null })).body.expires_at).toBe(expires_at);
    expect((await grant(bob, onFolder, carl, 'admin')).body.expires_at).toBe(expires_at);
    const sooner = inSeconds(30);
    expect((await grant(bob, onFile, carl, 'write', { expires_at: sooner })).body.expires_at).toBe(sooner);
    expect(await reads(carl, file)).toBe(200);

    aheadMs += 61_000;
    expect(await reads(carl, file)).toBe(404);
  });

  test('cannot extend it through a user whom they made admin, nor through a group that they are in', async () => {
    const expires_at = inSeconds(60);
    const { ada, bob, carl, file, onFolder } = await adminBob({ expires_at });
    const group = await groupOf(bob, carl);

    expect((await grant(bob, onFolder, carl, 'admin')).status).toBe(201);
    expect((await grant(carl, onFolder, bob, 'admin')).status).toBe(403);
    const team = await bob.api.post(`${onFolder}/permissions`, { permission_level: 'admin', group_id: group });
    expect(team).toMatchObject({ status: 201, body: { expires_at } });
    expect((await bob.api.post(`${onFolder}/permissions`, { permission_level: 'admin', group_id: group })).body.expires_at).toBe(
      expires_at,
    );

    expect((await ada.api.get(`${onFolder}/permissions`)).body.data.map((one: { expires_at: string }) => one.expires_at)).toEqual(
      range(3).map(() => expires_at),
    );
    aheadMs += 61_000;
    expect([await reads(bob, file), await reads(carl, file)]).toEqual([404, 404]);
  });

  test('gives grants without an end if another grant of theirs has none', async () => {
    const { ada, bob, carl, onFile } = await adminBob({ expires_at: inSeconds(60) });
    await grant(ada, onFile, bob, 'admin');

    expect((await grant(bob, onFile, carl, 'read')).body.expires_at).toBeNull();
  });
});

describe('what a grantee gave', () => {
  test('ends with their own grant, and so does what was given on, at once', async () => {
    const { ada, bob, carl, file, onFolder, onFile, bobs } = await adminBob();
    const dora = await tenant.user();
    await grant(bob, onFile, carl, 'admin');
    await grant(carl, onFile, dora, 'read');
    expect([await reads(carl, file), await reads(dora, file)]).toEqual([200, 200]);

    expect((await ada.api.delete(`${onFolder}/permissions/${bobs.id}`)).status).toBe(204);

    expect([await reads(bob, file), await reads(carl, file), await reads(dora, file)]).toEqual([404, 404, 404]);
    expect((await ada.api.get(`${onFile}/permissions`)).body.data).toEqual([]);
  });

  test('ends when theirs becomes less than admin, and ends sooner when theirs does', async () => {
    const { ada, bob, carl, file, onFolder, onFile } = await adminBob();
    const dora = await tenant.user();
    await grant(bob, onFile, carl, 'admin');
    await grant(carl, onFile, dora, 'read');
    expect(await reads(dora, file)).toBe(200);

    const expires_at = inSeconds(60);
    expect((await grant(ada, onFolder, bob, 'admin', { expires_at })).status).toBe(200);
    expect((await ada.api.get(`${onFile}/permissions`)).body.data).toMatchObject([{ expires_at }, { expires_at }]);
    expect((await grant(ada, onFolder, bob, 'admin')).status).toBe(200);
    expect((await ada.api.get(`${onFile}/permissions`)).body.data).toMatchObject([{ expires_at }, { expires_at }]);

    expect((await grant(ada, onFolder, bob, 'write')).status).toBe(200);
    expect([await reads(bob, file), await reads(carl, file), await reads(dora, file)]).toEqual([200, 404, 404]);
  });

  test('ends when they leave the group that made them admin, and when they are deleted', async () => {
    const { ada, bob, carl, file, onFile } = await adminBob({ expires_at: inSeconds(1) });
    const dora = await tenant.user();
    const group = await groupOf(bob, dora);
    await ada.api.post(`${onFile}/permissions`, { permission_level: 'admin', group_id: group });
    await grant(bob, onFile, carl, 'read');
    expect(await reads(carl, file)).toBe(200);

    expect((await tenant.admin.delete(`/users/${bob.user.id}`)).status).toBe(204);
    expect([await reads(carl, file), await reads(dora, file)]).toEqual([404, 200]);

    await grant(dora, onFile, carl, 'read');
    await tenant.admin.delete(`/groups/${group}/members/${dora.user.id}`);
    expect((await ada.api.get(`${onFile}/permissions`)).body.data).toMatchObject([{ group_id: group }]);
  });

  test('ends when the file is moved out of the folder that made them admin, and not when it stays below it', async () => {
    const { ada, bob, carl, folder, file, onFile } = await adminBob();
    await grant(bob, onFile, carl, 'read');
    const inner = (await ada.api.post('/folders', { name: 'inner', parent_id: folder.id })).body;

    await ada.api.patch(onFile, { folder_id: inner.id });
    expect(await reads(carl, file)).toBe(200);

    await ada.api.patch(onFile, { folder_id: null });
    expect([await reads(bob, file), await reads(carl, file)]).toEqual([404, 404]);
  });

  test('stays if the owner of the resource gives it again', async () => {
    const { ada, bob, carl, file, onFolder, onFile, bobs } = await adminBob();
    await grant(bob, onFile, carl, 'read');
    await grant(ada, onFile, carl, 'read');

    await ada.api.delete(`${onFolder}/permissions/${bobs.id}`);

    expect(await reads(carl, file)).toBe(200);
  });
});

describe('what makes one admin', () => {
  test('is not theirs to change or take away, nor is what it rests on; but it is theirs to give up', async () => {
    const { ada, bob, carl, file, onFolder, bobs } = await adminBob();
    const group = await groupOf(carl);
    const team = (await bob.api.post(`${onFolder}/permissions`, { permission_level: 'admin', group_id: group })).body;

    const attempts = [
      await grant(carl, onFolder, bob, 'read'),
      await carl.api.delete(`${onFolder}/permissions/${bobs.id}`),
      await carl.api.post(`${onFolder}/permissions`, { permission_level: 'admin', group_id: group }),
      await carl.api.delete(`${onFolder}/permissions/${team.id}`),
    ];
    expect(attempts.map(({ status }) => status)).toEqual([403, 403, 403, 403]);

    expect((await bob.api.delete(`${onFolder}/permissions/${bobs.id}`)).status).toBe(204);
    expect([await reads(bob, file), await reads(carl, file), await reads(ada, file)]).toEqual([404, 404, 200]);
  });

  test('does not bind the owner of the resource or of a folder above it', async () => {
    const { ada, bob, carl, folder, onFolder } = await adminBob({ expires_at: inSeconds(3600) });
    await grant(ada, onFolder, carl, 'admin', { expires_at: inSeconds(60) });
    const carls = (await carl.api.upload('/files', { file: Buffer.from('c'), name: 'c.txt', fields: { folder_id: folder.id } }))
      .body;

    expect((await grant(carl, `/files/${carls.id}`, bob, 'admin')).body.expires_at).toBeNull();
    expect((await grant(ada, `/files/${carls.id}`, bob, 'write')).body.expires_at).toBeNull();
  });
});

test('under racing grants and revocations no grant outlives its source, and permission sets match the rows at once', async () => {
  const { ada, bob, carl, file, folder, onFolder, onFile } = await adminBob();
  const people = [bob, carl, await tenant.user(), await tenant.user()];
  const group = await groupOf(...people.slice(2));
  const chance = (among: number): number => systemRandom.bytes(1).readUInt8() % among;
  const any = <T>(items: readonly T[]): T => items[chance(items.length)] as T;
  const act = async (): Promise<ApiReply> => {
    const [by, on] = [any([ada, ...people]), any([onFolder, onFile])];
    if (chance(4) === 0) {
      const grants = (await ada.api.get(`${on}/permissions`)).body.data as { id: string }[];
      return grants.length === 0 ? await by.api.get(on) : await by.api.delete(`${on}/permissions/${any(grants).id}`);
    }
    const terms = {
      permission_level: any(['read', 'write', 'admin', 'admin']),
      ...any([{}, { expires_at: inSeconds(600 + chance(200)) }]),
    };
    const to = chance(4) === 0 ? { group_id: group } : { user_id: any(people).user.id };
    return by.api.post(`${on}/permissions`, { ...terms, ...to });
  };

  const statuses = new Set<number>();
  for (const _ of range(12)) {
    for (const { status } of await Promise.all(range(5).map(() => untilServed(act)))) statuses.add(status);
    const known = await Promise.all(people.map((person) => reads(person, file)));
    const rows = await tenant.db.query<{ user: string }>(
      `SELECT u.uuid AS user FROM users u WHERE EXISTS (SELECT FROM permissions p WHERE p.resource_id IN (
         SELECT id FROM files WHERE uuid = $1 AND p.resource_type = 'file' UNION SELECT id FROM folders
         WHERE uuid = $2 AND p.resource_type = 'folder')
         AND (p.user_id = u.id OR p.group_id IN (SELECT group_id FROM group_members m WHERE m.user_id = u.id)))`,
      [file.id, folder.id],
    );
    expect(known).toEqual(people.map(({ user }) => (rows.some((row) => row.user === user.id) ? 200 : 404)));
    expect(await faultsOf(tenant)).toEqual([]);
  }
  expect([...statuses].filter((status) => ![200, 201, 204, 400, 403, 404].includes(status))).toEqual([]);
});

test('a grant that races with the end of what it rests on does not outlive it', async () => {
  for (const _ of range(5)) {
    const { ada, bob, carl, file, onFolder, onFile, bobs } = await adminBob();

    await Promise.all([
      ada.api.delete(`${onFolder}/permissions/${bobs.id}`),
      grant(bob, onFile, carl, 'admin'),
      grant(bob, onFolder, carl, 'read'),
    ]);

    expect(await reads(carl, file)).toBe(404);
    const [left] = await tenant.db.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM permissions p JOIN users u ON u.id = p.user_id WHERE u.uuid = $1`,
      [carl.user.id],
    );
    expect(left?.count).toBe(0);
  }
});
