import { afterAll } from '@jest/globals';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { backUpTenants, listBackups, restoreTenant } from '../../../pkg/admin/commands/backup.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { quoteIdentifier, SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { Objects, type ObjectsOptions } from '../../../pkg/store/s3/objects.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { type Filled, fillTenant } from '../../support/data/filled-tenant.ts';
import { condition, operatorEnvironment, secretValues } from '../../support/cluster/operator.ts';
import { operatorSuite, type OperatorSuite } from '../../support/suites/operator-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { carrel as anyCarrel, inProcess as anyProcess, type Outcome } from './carrel.ts';

export interface Ready {
  readonly key: ObjectKey;
  readonly slug: string;
  readonly tenantId: string;
  readonly objects: Objects;
}

type Work = Parameters<typeof anyProcess>[0];
/** The arguments of `restore` beside the repository. */
export interface Restoring {
  readonly of?: string;
  readonly backup?: string;
  readonly replace?: boolean;
  readonly unsigned?: boolean;
  readonly former?: boolean;
}

export interface BackupSuite extends Pick<OperatorSuite, 'cluster'> {
  /** Connects to the shard as its owner. */
  readonly pool: SqlPool;
  /** The command in a process of its own. */
  carrel(args: readonly string[]): Promise<Outcome>;
  backup(slugs: readonly string[], to: string, env?: NodeJS.ProcessEnv, keep?: number): Promise<Outcome>;
  backups(slug: string, at: string, verify?: boolean): Promise<Outcome>;
  restored(slug: string, from: string, more?: Restoring, env?: NodeJS.ProcessEnv): Promise<Outcome>;
  readyOne(): Promise<Ready>;
  filled(): Promise<Ready & Filled>;
  /** Suspends a tenant and waits until it may be restored. */
  suspend(tenant: Ready): Promise<void>;
  newFolder(): Promise<string>;
  inSchema(tenant: Ready, sql: string): Promise<unknown[]>;
}

/** Tenants of the operator that files share, and the commands about backups. Registers its own hooks. */
export function backupSuite(): BackupSuite {
  const { cluster, namespace, readyTenant } = operatorSuite();
  const { stores, scratch } = testBackends();
  const pool = new SqlPool({ url: stores.postgres.operator, poolSize: 4, log: silentLogger });
  afterAll(() => pool.close());
  const settings = operatorEnvironment(stores);
  /** The command in this process. */
  const inProcess = (work: Work, env: NodeJS.ProcessEnv = {}): Promise<Outcome> => anyProcess(work, { ...settings, ...env });

  async function readyOne(): Promise<Ready> {
    const key = await readyTenant();
    const storage = (await secretValues(cluster, namespace, `${key.name}-storage`)) as unknown as ObjectsOptions;
    const objects = new Objects(storage);
    cluster.onClose(async () => objects.close());
    return { key, slug: key.name, tenantId: (await cluster.tenants.get(key)).status?.tenantId ?? '', objects };
  }

  return {
    cluster,
    pool,
    readyOne,
    carrel: (args) => anyCarrel(args, settings),
    backup: (slugs, to, env, keep) =>
      inProcess((options) => backUpTenants(slugs, { ...options, to, keep, mostMs: undefined }), env),
    backups: (slug, at, verify = false) => inProcess((options) => listBackups(slug, { ...options, at, verify })),
    restored: (slug, from, { of, backup, replace = false, unsigned = false, former = false } = {}, env = {}) =>
      inProcess((options) => restoreTenant(slug, { ...options, from, backup, of, replace, unsigned, former }), env),
    filled: async () => {
      const tenant = await readyOne();
      return { ...tenant, ...(await fillTenant({ pool, ...tenant }, stores.platformKeys)) };
    },
    suspend: async ({ key }) => {
      await cluster.tenants.patch(key, { spec: { suspended: true } });
      await condition(cluster.tenants, key, 'Ready', 'False', 'Suspended');
      await waitFor('the role to be locked', async () => {
        const [role] = await pool.query<{ limit: number }>('SELECT rolconnlimit AS "limit" FROM pg_roles WHERE rolname = $1', [
          tenantRole(key.name),
        ]);
        return role?.limit === 0;
      });
    },
    newFolder: () => mkdtemp(join(scratch, 'backups-')),
    inSchema: ({ slug }, sql) =>
      pool.transaction(async (tx) => {
        await tx.query(`SET LOCAL search_path = ${quoteIdentifier(tenantRole(slug))}, ext`);
        return tx.query(sql);
      }),
  };
}
