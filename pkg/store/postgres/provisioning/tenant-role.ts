import { LOCK_TIMEOUT } from '../migrate.ts';

/** The role of a tenant, and the name of its schema. */
export const tenantRole = (slug: string): string => `tenant_${slug}`;

/**
 * For a transaction that changes a schema or role: limits its waits for locks, and silences notices of objects that exist
 * already.
 */
export const DDL_SETTINGS = `SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'; SET LOCAL client_min_messages = 'error'`;

/**
 * The setting of a role that may only read: while its rows are copied to another shard (read-only.ts), or beyond
 * `spec.limits.database`.
 */
export const READ_ONLY_SETTING = 'default_transaction_read_only';
