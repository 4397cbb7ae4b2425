import type { Installation } from './installation.ts';
import { systemRandom } from '../runtime/random.ts';
import { type Sealer, tenantSealer } from '../runtime/sealing.ts';
import { sqlState } from '../store/postgres/errors.ts';
import { quoteIdentifier, type Sql, type SqlPool } from '../store/postgres/pool.ts';
import { tenantRole } from '../store/postgres/provisioning.ts';
import { CommandError } from '../runtime/command-error.ts';
import { type InstallationAccess, withInstallation } from './installation-access.ts';

export interface TenantOptions {
  readonly installation: Installation;
  /** A slug. */
  readonly tenant: string;
}

/** The rows of a tenant, as the operator's role reaches them. */
export interface TenantAccess {
  readonly slug: string;
  readonly tenantId: string;
  /** Seals as the operator does. */
  readonly sealer: Sealer;
  /** Its role, which is also the name of its schema. */
  readonly role: string;
  /** Its shard. */
  readonly pool: SqlPool;
  /** Runs a transaction in which tables without a schema are the tenant's. */
  transaction<T>(fn: (tx: Sql) => Promise<T>): Promise<T>;
}

const UNDEFINED_TABLE = '42P01';

/** Throws CommandError if the tenant does not exist or has no rows, and the errors of `work`. */
export const withTenant = <T>(
  { tenant: slug, installation }: TenantOptions,
  work: (access: TenantAccess) => Promise<T>,
): Promise<T> =>
  withInstallation(installation, async (access) => {
    try {
      return await work(await tenantAccess(access, slug));
    } catch (error) {
      if (sqlState(error) !== UNDEFINED_TABLE) throw error;
      throw new CommandError(
        `${slug} has no schema, or one of an older release: the condition DatabaseReady of its Tenant says why`,
      );
    }
  });

async function tenantAccess(installation: InstallationAccess, slug: string): Promise<TenantAccess> {
  const tenant = await installation.tenant(slug);
  if (tenant.state === 'deleting') throw new CommandError(`${slug} is being deleted, together with its jobs and webhooks`);
  const pool = installation.shardOf(tenant);
  const role = tenantRole(slug);
  return {
    slug,
    tenantId: tenant.tenantId,
    sealer: tenantSealer(installation.platformKeys, tenant.tenantId, systemRandom, tenant.credentials.data?.generation),
    role,
    pool,
    transaction: (fn) =>
      pool.transaction(async (tx) => {
        await tx.query(`SET LOCAL search_path = ${quoteIdentifier(role)}, ext`);
        return fn(tx);
      }),
  };
}
