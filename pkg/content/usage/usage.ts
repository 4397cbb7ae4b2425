import { z } from 'zod';
import { maySee } from '../../accounts/users/users.policy.ts';
import type { Actor } from '../../api/actor.ts';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import { Uuid } from '../../api/schemas.ts';
import type { Feature } from '../../feature/feature.ts';
import type { Database } from '../../store/postgres/database.ts';
import { tenantUsage } from './tenant-usage.sql.ts';
import { TenantUsageView, UsageView } from './usage.schema.ts';
import { usageOf } from './usage.sql.ts';

/**
 * The storage that people use: administrators see everybody's, others their own. One person's is counted at each request, that of
 * all together at most once within the lifetime of a cached reply.
 */
export const usage: Feature = {
  name: 'usage',
  create: ({ db }) => ({ endpoints: usageEndpoints(db) }),
};

const usageEndpoints = (db: Database): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/usage',
    operationId: 'getTenantUsage',
    summary: 'Show how much all users store, by user, media type and month, and how many were active',
    tag: 'users',
    caller: { permission: 'read:users' },
    replies: { 200: TenantUsageView },
    cached: { tags: [] },
    handle: async () => reply(200, await showAll(db)),
  }),
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

async function showAll(db: Database): Promise<TenantUsageView> {
  const { totals, largest, types, months, days, requests, deliveries } = await tenantUsage(db);
  const { at, people, used, files, trashed, versions, trash, metadata } = totals;
  return {
    counted_at: at.toISOString(),
    people,
    storage_used: used,
    files,
    trashed_files: trashed,
    versions_bytes: versions,
    trash_bytes: trash,
    metadata_bytes: metadata,
    largest_users: largest.map((user) => ({
      user: { id: user.id, name: user.name },
      storage_used: user.used,
      storage_quota: user.quota,
    })),
    types: types.map((type) => ({ mime_type: type.mimeType, files: type.files, bytes: type.bytes })),
    months: [...months],
    days: days.map(({ signIns, ...day }) => ({ ...day, sign_ins: signIns })),
    requests: [...requests],
    deliveries: [...deliveries],
  };
}
