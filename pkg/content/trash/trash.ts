import type { Actor } from '../../api/actor.ts';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { type Page, page, pageRequest } from '../../api/paging.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { TaskRequests } from '../../tasks/task-requests.ts';
import { TaskView } from '../../tasks/tasks.schema.ts';
import { grantedAtLeast, hiddenAncestors } from '../model/access/inherited-access.policy.ts';
import { pathBelow } from '../model/names/names.policy.ts';
import { type TrashItem, TrashPage, TrashQuery } from './trash.schema.ts';
import { EMPTY_OWN_TRASH } from './trash-task.ts';
import { TRASH, trashList, type TrashedRow } from './trash.sql.ts';

export const trashEndpoints = (deps: { db: Database; tasks: TaskRequests; clock: Clock }): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/trash',
    operationId: 'listTrash',
    summary: 'List the items in the trash that the caller may write; items deleted with a folder are part of it',
    tag: 'trash',
    caller: { permission: 'read:files' },
    query: TrashQuery,
    replies: { 200: TrashPage },
    compressed: true,
    handle: async ({ actor, query }) => reply(200, await listTrash(deps.db, actor, query)),
  }),
  endpoint({
    method: 'delete',
    path: '/trash',
    operationId: 'emptyTrash',
    summary: "Delete for ever everything in the caller's trash",
    tag: 'trash',
    caller: { permission: 'write:files' },
    replies: { 202: TaskView },
    errors: ['conflict'],
    idempotent: true,
    handle: async ({ actor }) => reply(202, await emptyTrash(deps, actor)),
  }),
];

/**
 * Requests a job that permanently deletes everything that the actor owns and has deleted by now, or extends such a job that has
 * not ended. Five statements. Throws `conflict` if the actor has too many jobs.
 */
async function emptyTrash(
  { db, tasks, clock }: { db: Database; tasks: TaskRequests; clock: Clock },
  actor: Actor,
): Promise<TaskView> {
  return db.transaction((tx) =>
    tasks.request(tx, EMPTY_OWN_TRASH, actor.userId, { arguments: { before: clock.now().toISOString() } }),
  );
}

/** Takes one statement. */
async function listTrash(db: Sql, actor: Actor, query: TrashQuery): Promise<Page<TrashItem>> {
  const request = pageRequest(query, TRASH.order);
  const caller = { actor, granted: await actor.permissionSet() };
  const { sql, params } = trashList({ userId: actor.userId, ...grantedAtLeast(caller.granted, 'write') }, request);
  return page(
    request,
    await db.query<TrashedRow>(sql, params),
    (row) => presentTrashed(row, hiddenAncestors(caller, row.ancestors)),
    (row) => TRASH.valuesOf(request, row),
  );
}

const presentTrashed = (
  { type, uuid, name, path, deletedAt, expiresAt, size, ownerUuid, ownerName }: TrashedRow,
  hidden: number,
): TrashItem => ({
  type,
  id: uuid,
  name,
  path: pathBelow(path, hidden),
  deleted_at: deletedAt.toISOString(),
  expires_at: expiresAt.toISOString(),
  size,
  owner: { id: ownerUuid, name: ownerName },
});
