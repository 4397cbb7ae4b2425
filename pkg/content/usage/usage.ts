import { z } from 'zod';
import { maySee } from '../../accounts/users/users.policy.ts';
import type { Actor } from '../../api/actor.ts';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import { Uuid } from '../../api/schemas.ts';
import type { Feature } from '../../feature/feature.ts';
import type { Database } from '../../store/postgres/database.ts';
import { UsageView } from './usage.schema.ts';
import { usageOf } from './usage.sql.ts';

/** The storage that people use, counted at each request: administrators see everybody's, others their own. */
export const usage: Feature = {
  name: 'usage',
  create: ({ db }) => ({ endpoints: usageEndpoints(db) }),
};

const usageEndpoints = (db: Database): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/users/me/usage',
    operationId: 'getOwnUsage',
    summary: 'Show how much the caller stores',
    tag: 'users',
    caller: 'user',
    replies: { 200: UsageView },
    errors: ['not_found'],
    handle: async ({ actor }) => reply(200, await show(db, actor, actor.userUuid)),
  }),
  endpoint({
    method: 'get',
    path: '/users/{id}/usage',
    operationId: 'getUsage',
    summary: 'Show how much a user stores',
    tag: 'users',
    caller: 'user',
    params: z.object({ id: Uuid }),
    replies: { 200: UsageView },
    errors: ['not_found'],
    handle: async ({ actor, params }) => reply(200, await show(db, actor, params.id)),
  }),
];

/** Takes one statement. Throws `not_found`. */
async function show(db: Database, actor: Actor, id: Uuid): Promise<UsageView> {
  const found = maySee(actor, id) ? await usageOf(db, id) : undefined;
  if (!found) throw new Problem('not_found');
  const { quota, used, files, trashed, versions, trash, metadata } = found;
  const bytes = { versions_bytes: versions, trash_bytes: trash, metadata_bytes: metadata };
  return { storage_quota: quota, storage_used: used, files, trashed_files: trashed, ...bytes };
}
