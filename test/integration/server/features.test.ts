import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { endpoint, tagged } from '../../../pkg/api/endpoint.ts';
import { Etag } from '../../../pkg/api/schemas.ts';
import type { Feature } from '../../../pkg/feature/feature.ts';
import type { RemovedUser } from '../../../pkg/feature/offboarding.ts';
import { time } from '../../support/data/example-feature.ts';
import { startTenant } from '../../support/programs/server.ts';

const ROOT = join(import.meta.dirname, '../../..');

test('the example of docs/architecture.md is a feature that compiles and is served, in the OpenAPI document too', async () => {
  const documentation = await readFile(join(ROOT, 'docs/architecture.md'), 'utf8');
  const [, example = ''] = /## Add a feature[\s\S]*?```ts\n([\s\S]*?)```/.exec(documentation) ?? [];
  const tenant = await startTenant({ features: [time] });
  try {
    const answer = await tenant.admin.get('/time');
    const openapi = await tenant.anonymous.get('/openapi.json');

    expect(example).toContain('export const time: Feature');
    expect(await readFile(join(ROOT, 'test/support/data/example-feature.ts'), 'utf8')).toContain(example);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: { time: expect.any(String) } });
    expect(openapi.body).toMatchObject({ paths: { '/time': { get: { operationId: 'getTime' } } } });
  } finally {
    await tenant.stop();
  }
});

test('each feature is asked in the transaction that deletes a user, and what one throws undoes all of it', async () => {
  const removed: RemovedUser[] = [];
  let refuse = true;
  const witness: Feature = {
    name: 'witness',
    create: () => ({
      onUserRemoved: async (tx, user) => {
        removed.push(user);
        await tx.query('UPDATE users SET display_name = $2 WHERE id = $1', [user.newOwner?.id, 'New owner']);
        if (refuse) throw new TypeError('refused');
      },
    }),
  };
  const tenant = await startTenant({ features: [witness] });
  try {
    const [leaving, newOwner] = [await tenant.user(), await tenant.user()];
    const remove = () => tenant.admin.delete(`/users/${leaving.user.id}`, { query: { transfer_to: newOwner.user.id } });
    const nameOfNewOwner = async () =>
      ((await tenant.admin.get(`/users/${newOwner.user.id}`)).body as { display_name: string | null }).display_name;

    expect((await remove()).status).toBe(500);
    expect([(await tenant.admin.get(`/users/${leaving.user.id}`)).status, await nameOfNewOwner()]).toEqual([200, null]);

    refuse = false;
    expect((await remove()).status).toBe(204);
    expect([(await tenant.admin.get(`/users/${leaving.user.id}`)).status, await nameOfNewOwner()]).toEqual([404, 'New owner']);
    expect(removed.at(-1)).toMatchObject({ uuid: leaving.user.id, newOwner: { uuid: newOwner.user.id } });
  } finally {
    await tenant.stop();
  }
});

test('a cached reply with an entity tag is a 304 for whoever knows it, as the first one is', async () => {
  const shown: Feature = {
    name: 'shown',
    create: () => ({
      endpoints: [
        endpoint({
          method: 'get',
          path: '/shown',
          operationId: 'getShown',
          summary: 'Show a thing',
          caller: 'user',
          replies: { 200: z.object({ etag: Etag }) },
          cached: { tags: ['shown'] },
          handle: () => Promise.resolve(tagged(200, { etag: 'first' })),
        }),
      ],
    }),
  };
  const tenant = await startTenant({ features: [shown] });
  try {
    const get = (etag: string) => tenant.admin.get('/shown', { headers: { 'if-none-match': etag } });
    const statuses = async () => [(await get('"first"')).status, (await get('"other"')).status];

    expect(await statuses()).toEqual([304, 200]);
    expect(await statuses()).toEqual([304, 200]);
  } finally {
    await tenant.stop();
  }
});
