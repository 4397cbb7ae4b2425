import { etagOf } from '../../../api/etag.ts';
import type { GrantView } from './grants.schema.ts';
import type { GrantRow, Resource } from './grants.sql.ts';

type Shown = Omit<GrantRow, 'id'>;

/** Returns the entity tag of everything that may change, also by the end or the change of a grant that it depends on. */
export const grantEtag = ({ uuid, level, grantedBy, grantedAt, expiresAt }: Shown): string =>
  etagOf('grant', uuid, JSON.stringify([level, grantedBy, grantedAt, expiresAt]));

export const presentGrant = (resource: Resource, row: Shown): GrantView => ({
  id: row.uuid,
  resource_type: resource.kind,
  resource_id: resource.uuid,
  user_id: row.userId,
  group_id: row.groupId,
  permission_level: row.level,
  granted_by: row.grantedBy,
  granted_at: row.grantedAt.toISOString(),
  expires_at: row.expiresAt?.toISOString() ?? null,
  etag: grantEtag(row),
});
