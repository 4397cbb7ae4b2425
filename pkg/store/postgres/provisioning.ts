export { SYSTEM_USERNAME } from './migrations/tenant/0001-people.ts';
export { MAX_FOLDER_DEPTH } from './migrations/tenant/0002-files.ts';
export { ensureShard, type ShardAccess, ShardUnfit, TENANT_GROUP, WORKER_ROLE } from './provisioning/base.ts';
export { holdJobs, releaseJobs } from './provisioning/held-jobs.ts';
export type { DatabaseAccessLevel, TenantLimits } from './provisioning/limits.ts';
export { makeReadOnly, makeWritable } from './provisioning/read-only.ts';
export { endSessions } from './provisioning/end-sessions.ts';
export {
  boundConnections,
  disableLogin,
  dropTenant,
  ensureTenantDatabase,
  inTenantSchema,
  LATEST_VERSION,
  migrateTenant,
  OtherTenantsSchema,
  READ_ONLY_SETTING,
  replaceSchema,
  rollbackTenant,
  schemaVersion,
  type TenantDatabase,
  tenantRole,
  UnknownMigrations,
} from './provisioning/tenant.ts';
export { databaseBytesOf, type Usage, usageOf } from './provisioning/usage.ts';
