import { etagOf } from '../../api/etag.ts';
import type { User } from '../../store/postgres/tables.ts';
import type { UserView } from './users.schema.ts';

export const presentUser = (user: User, tenantId: string): UserView => ({
  id: user.uuid,
  email: user.email,
  username: user.username,
  display_name: user.displayName,
  contact_email: user.contactEmail,
  roles: [...user.roles],
  tenant_id: user.tenantId === null ? tenantId : String(user.tenantId),
  storage_quota: user.storageQuota,
  storage_used: user.storageUsed,
  is_active: user.isActive,
  created_at: user.createdAt.toISOString(),
  updated_at: user.updatedAt.toISOString(),
  etag: userEtag(user),
});

export const userEtag = (user: User): string => etagOf('user', user.uuid, user.revision);
