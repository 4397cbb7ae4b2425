export { ensureShard, type ShardAccess, ShardUnfit, TENANT_GROUP, WORKER_ROLE } from './provisioning/base.ts';
export { disableLogin, dropTenant, OtherTenantsSchema } from './provisioning/drop-tenant.ts';
export { endSessions } from './provisioning/end-sessions.ts';
export { holdJobs, releaseJobs } from './provisioning/held-jobs.ts';
export type { DatabaseAccessLevel, TenantLimits } from './provisioning/limits.ts';
export { missingInRegistry, missingInShard } from './provisioning/missing.ts';
export { makeReadOnly, makeWritable } from './provisioning/read-only.ts';
export { boundConnections, ensureTenantDatabase, type TenantDatabase } from './provisioning/tenant.ts';
export {
  inTenantSchema,
  LATEST_VERSION,
  migrateTenant,
  replaceSchema,
  rollbackTenant,
  schemaVersion,
  UnknownMigrations,
} from './provisioning/tenant-migrations.ts';
export { READ_ONLY_SETTING, tenantRole } from './provisioning/tenant-role.ts';
export { databaseBytesOf, type Usage, usageOf } from './provisioning/usage.ts';
