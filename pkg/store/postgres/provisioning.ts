export { ensureShard, ShardUnfit, TENANT_GROUP } from './provisioning/base.ts';
export { disableLogin, dropTenant, OtherTenantsSchema } from './provisioning/drop-tenant.ts';
export { endSessions } from './provisioning/end-sessions.ts';
export { holdJobs, releaseJobs } from './provisioning/held-jobs.ts';
export type { DatabaseAccessLevel, TenantLimits } from './provisioning/limits.ts';
export { missingInRegistry, missingInShard } from './provisioning/missing.ts';
export { makeReadOnly, makeWritable } from './provisioning/read-only.ts';
export type { ShardAccess } from './provisioning/shard-access.ts';
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
export { WORKER_ROLE } from './provisioning/worker-role.ts';
