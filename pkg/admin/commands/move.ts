import { randomUUID } from 'node:crypto';
import { TENANTS } from '../../../crds/types.generated.ts';
import { defineKind, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import { ResourceApi } from '../../kube/resource.ts';
import { findCondition, type Condition } from '../../kube/status.ts';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { LockTimeout } from '../../store/postgres/errors.ts';
import { MoveRefused } from '../../store/postgres/moves.ts';
import type { SqlPool } from '../../store/postgres/pool.ts';
import { OtherTenantsSchema, UnknownMigrations } from '../../store/postgres/provisioning.ts';
import { ConnectionsExceeded } from '../../store/postgres/registry.ts';
import { moveTenant } from '../../tenantdata/move.ts';
import type { Installation } from '../installation.ts';
import { CommandError } from '../../runtime/command-error.ts';
import { type InstallationAccess, withInstallation } from '../installation-access.ts';

interface TenantObject extends KubeObject {
  spec: { database?: { shard?: string } };
  status?: { conditions?: Condition[] };
}

const TENANT = defineKind<TenantObject>(TENANTS);
/** Changing it makes the operator check the Tenant. */
const ANNOTATION = 'carrel.dev/moved-at';
/** Longest time until the pods are replaced. */
const PODS_MS = 300_000;
const POLL_MS = 500;

interface Options {
  readonly installation: Installation;
  readonly to: string;
}

/** Moves a tenant's rows to another shard and waits until its pods use them. Throws CommandError. */
export async function move(slug: string, { to, installation }: Options): Promise<void> {
  const client = await installation.cluster();
  const tenants = new ResourceApi(client, TENANT);
  try {
    await withInstallation(installation, async (access) => {
      const { owner } = await access.tenant(slug);
      await requireShard(tenants, owner, to);
      const began = performance.now();
      const look = () =>
        tenants.patch(
          owner,
          { metadata: { annotations: { [ANNOTATION]: new Date().toISOString() } } },
          { fieldManager: 'carrel' },
        );
      await moveRows(slug, to, access, installation.maxTenantsPerShard).catch(async (error: unknown) => {
        // Makes the operator let the tenant write again.
        await look().catch(() => undefined);
        throw error;
      });
      await look();
      await untilReplaced(tenants, owner, to);
      process.stdout.write(`${slug}: its pods use shard ${to}, ${seconds(performance.now() - began)} after the beginning.\n`);
    });
  } finally {
    await client.close();
  }
}

/** A Tenant that names its shard would be refused on another one. */
async function requireShard(tenants: ResourceApi<TenantObject>, owner: ObjectKey, to: string): Promise<void> {
  const found = await tenants.find(owner);
  if (!found)
    throw new CommandError(
      `there is no Tenant ${owner.name} in namespace ${owner.namespace}. Only the data of an existing Tenant can be moved`,
    );
  const named = found.spec.database?.shard;
  if (named !== undefined && named !== to)
    throw new CommandError(
      `spec.database.shard of Tenant ${owner.name} in namespace ${owner.namespace} is ${named}. Set it to ${to}, or remove it; ` +
        'the Tenant is ShardConflict until it has moved',
    );
}

async function moveRows(slug: string, to: string, access: InstallationAccess, maxTenants: number): Promise<void> {
  const tenant = await access.tenant(slug);
  const target = access.shards.get(to);
  if (!target) throw new CommandError(`there is no shard ${to}; the operator has ${[...access.shards.keys()].join(', ')}`);
  if (tenant.shard === to) throw new CommandError(`${slug} is already on shard ${to}`);
  const time = { clock: systemClock, random: systemRandom };
  try {
    const { rows, readOnlyMs, left } = await moveTenant({
      slug,
      move: { tenantId: tenant.tenantId, from: tenant.shard, to, by: randomUUID() },
      registry: [...access.shards.values()][0] as SqlPool,
      from: { pool: access.shardOf(tenant), ...time },
      to: { pool: target, ...time },
      maxTenants,
      ...time,
      onStep: (text) => process.stderr.write(`${slug}: ${text}\n`),
    });
    process.stdout.write(
      `${slug}: ${rows} rows are on shard ${to}, read back and verified. The tenant was read-only for ${seconds(readOnlyMs)}.\n`,
    );
    if (left !== undefined)
      process.stdout.write(
        `${slug}: what it left on shard ${tenant.shard} is not removed yet (${left}); the operator will remove it.\n`,
      );
  } catch (error) {
    if (error instanceof MoveRefused || error instanceof ConnectionsExceeded || error instanceof UnknownMigrations)
      throw new CommandError(error.message);
    if (error instanceof OtherTenantsSchema) throw new CommandError(`shard ${to}: ${error.message}`);
    if (error instanceof LockTimeout)
      throw new CommandError(`the tables of ${slug} are in use; nothing has moved. Try again later`);
    throw error;
  }
}

/** Waits until the operator has given the pods the new address. A suspended tenant has no pods. */
async function untilReplaced(tenants: ResourceApi<TenantObject>, owner: ObjectKey, to: string): Promise<void> {
  const until = performance.now() + PODS_MS;
  for (;;) {
    const conditions = (await tenants.get(owner)).status?.conditions;
    const [database, workload] = ['DatabaseReady', 'WorkloadAvailable'].map((type) => findCondition(conditions, type));
    const isThere = database?.status === 'True' && database.message.includes(`on shard ${to}`);
    if (isThere && (workload?.reason === 'Available' || workload?.reason === 'Suspended' || workload?.reason === 'ScaledToZero'))
      return;
    if (performance.now() > until)
      throw new CommandError(
        `${owner.name} has moved to shard ${to}, but its pods are not replaced yet: ` +
          `${workload?.reason ?? ''}: ${workload?.message ?? ''}`,
      );
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
