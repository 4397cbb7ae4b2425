import { createHash } from 'node:crypto';
import type { Sql } from '../pool.ts';
import { auditLogFunctions } from './audit.sql.ts';
import { auditOfContent } from './audit-of-content.sql.ts';
import { auditOfLti } from './audit-of-lti.sql.ts';
import { auditOfPeople } from './audit-of-people.sql.ts';
import { entryFunctions } from './entries.sql.ts';
import { grantFunctions } from './grants.sql.ts';
import { jobFunctions } from './jobs.sql.ts';
import { operatorFunctions } from './operator.sql.ts';
import { outboxFunctions } from './outbox.sql.ts';
import { passwordFunctions } from './passwords.sql.ts';
import { retentionFunctions } from './retention.sql.ts';
import { rowFunctions } from './rows.sql.ts';
import { storageFunctions } from './storage-limits.sql.ts';
import { storeFilesFunctions } from './store-files.sql.ts';

const FUNCTIONS: readonly string[] = [
  rowFunctions,
  storageFunctions,
  storeFilesFunctions,
  entryFunctions,
  grantFunctions,
  passwordFunctions,
  retentionFunctions,
  jobFunctions,
  outboxFunctions,
  operatorFunctions,
  auditLogFunctions,
  auditOfContent,
  auditOfPeople,
  auditOfLti,
];

const TEXT = [...FUNCTIONS, 'REVOKE ALL ON ALL FUNCTIONS IN SCHEMA carrel FROM PUBLIC;'].join('\n');
const SHA256 = createHash('sha256').update(TEXT).digest('hex');

/**
 * The functions of the tenants' tables and of the tables that tenants share, once in each shard: PostgreSQL reads, for a lookup
 * by name, the functions of that name in all schemas, so that a tenant with its own made every connection and every new tenant
 * dearer (docs/decisions/stores.md). A trigger function takes the schema from its table. What a tenant calls is in the caller's
 * own search path, or, where it runs as its owner, in the schema of the caller's role, which no setting of the caller's changes.
 *
 * Invariants:
 * - A function works with the schemas of the former release too, since tenants are migrated one by one, and with its servers.
 *   What they cannot do with is a function of another name.
 * - One that is no longer here stays in the database until a migration of a later release drops it.
 */
export async function hasFunctions(sql: Sql): Promise<boolean> {
  const rows = await sql.query('SELECT FROM carrel.schema_functions WHERE sha256 = $1', [SHA256]);
  return rows.length > 0;
}

/** Makes the shard's functions those of this release, where they are not. Under the lock of the shard's migrations. */
export async function replaceFunctions(tx: Sql): Promise<void> {
  if (await hasFunctions(tx)) return;
  await tx.query(TEXT);
  await tx.query(
    `INSERT INTO carrel.schema_functions (sha256) VALUES ($1)
     ON CONFLICT (is_sole) DO UPDATE SET sha256 = excluded.sha256, replaced_at = now()`,
    [SHA256],
  );
}
