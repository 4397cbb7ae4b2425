import type { Actor } from '../../api/actor.ts';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { type Page, page, pageRequest } from '../../api/paging.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { grantedAtLeast, hiddenAncestors } from '../access/inherited-access.policy.ts';
import { pathBelow } from '../names/names.policy.ts';
import { type TrashItem, TrashPage, TrashQuery } from './trash.schema.ts';
import { TRASH, trashList, type TrashedRow } from './trash.sql.ts';

export const trashEndpoints = (db: Sql): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/trash',
    operationId: 'listTrash',
    summary: 'List what was deleted, of what the caller may write; what went with a folder is in it',
    tag: 'trash',
    caller: { permission: 'read:files' },
    query: TrashQuery,
    replies: { 200: TrashPage },
    handle: async ({ actor, query }) => reply(200, await listTrash(db, actor, query)),
  }),
];

/** One statement. */
async function listTrash(db: Sql, actor: Actor, query: TrashQuery): Promise<Page<TrashItem>> {
  const request = pageRequest(query, TRASH.order);
  const granted = await actor.permissionSet();
  const { sql, params } = trashList({ userId: actor.userId, ...grantedAtLeast(granted, 'write') }, request);
  return page(
    request,
    await db.query<TrashedRow>(sql, params),
    (row) => presentTrashed(row, hiddenAncestors(actor, row.ancestors, granted)),
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
