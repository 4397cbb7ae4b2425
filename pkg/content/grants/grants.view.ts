import type { GrantView } from './grants.schema.ts';
import type { GrantRow, Resource } from './grants.sql.ts';

export const presentGrant = (resource: Resource, row: Omit<GrantRow, 'id'>): GrantView => ({
  id: row.uuid,
  resource_type: resource.kind,
  resource_id: resource.uuid,
  user_id: row.userId,
  group_id: row.groupId,
  permission_level: row.level,
  granted_by: row.grantedBy,
  granted_at: row.grantedAt.toISOString(),
  expires_at: row.expiresAt?.toISOString() ?? null,
});
