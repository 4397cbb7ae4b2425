import { integerKey, keyset, type Parameters, timeKey } from '../store/postgres/keyset.ts';
import type { AUDIT_SORT_FIELDS, AuditEntry, AuditQuery } from './audit.schema.ts';

export interface AuditRow {
  readonly id: number;
  readonly uuid: string;
  readonly at: Date;
  readonly actorId: string | null;
  readonly actorName: string | null;
  readonly isSystem: boolean;
  readonly action: AuditEntry['action'];
  readonly targetType: AuditEntry['target']['type'];
  readonly targetId: string | null;
  readonly targetName: string | null;
  readonly ip: string | null;
  readonly requestId: string | null;
  readonly changes: AuditEntry['changes'];
}

export const AUDIT_COLUMNS = `a.id, a.uuid, a.at, a.actor_id AS "actorId", a.actor_name AS "actorName", a.is_system AS "isSystem",
  a.action, a.target_type AS "targetType", a.target_id AS "targetId", a.target_name AS "targetName", a.ip,
  a.request_id AS "requestId", a.changes`;

/** Orders entries newest first. Indexes serve this order for all entries, and for those of an actor, a target or an action. */
export const ENTRIES = keyset<AuditRow, (typeof AUDIT_SORT_FIELDS)[number] | 'id'>({
  keys: { at: timeKey('a.at', ({ at }) => at), id: integerKey('a.id', ({ id }) => id) },
  fields: ['at'],
  fallback: '-at',
  tieBreaker: 'id',
});

/**
 * Entries that concern a file or folder: its own, and those of its grants and share links. Of these, it finds those that exist,
 * and those whose creation is in the log, since no other entry names the resource; an index of migration 0005 has the same
 * expression.
 */
const concerning = (resource: string): string => {
  const idIn = (table: string): string => `(SELECT id FROM ${table} WHERE uuid = ${resource}::uuid)`;
  return `a.target_id = ANY (ARRAY(
    SELECT ${resource}::uuid
    UNION SELECT c.target_id FROM audit_entries c WHERE c.action IN ('grant.create', 'share.create')
      AND coalesce(c.changes #>> '{resource_id,to}', c.changes #>> '{file_id,to}', c.changes #>> '{folder_id,to}')
        = ${resource}::uuid::text
    UNION SELECT uuid FROM permissions WHERE resource_type = 'file' AND resource_id = ${idIn('files')}
      OR resource_type = 'folder' AND resource_id = ${idIn('folders')}
    UNION SELECT uuid FROM shares WHERE file_id = ${idIn('files')} OR folder_id = ${idIn('folders')}))`;
};

export const matching =
  ({ actor, action, target_type, target_id, resource, after, before }: AuditQuery) =>
  (params: Parameters): string[] => [
    ...(actor === undefined ? [] : [`a.actor_id = ${params.add(actor)}`]),
    ...(action === undefined ? [] : [`a.action = ${params.add(action)}`]),
    ...(target_type === undefined ? [] : [`a.target_type = ${params.add(target_type)}`]),
    ...(target_id === undefined ? [] : [`a.target_id = ${params.add(target_id)}`]),
    ...(resource === undefined ? [] : [concerning(params.add(resource))]),
    ...(after === undefined ? [] : [`a.at > ${params.add(after)}`]),
    ...(before === undefined ? [] : [`a.at < ${params.add(before)}`]),
  ];
