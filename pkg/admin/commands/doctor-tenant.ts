import { type Installation, requireKeys } from '../installation.ts';
import { openShards } from '../shards.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import { describeFault } from '../../content/upkeep/faults.ts';
import { type Checked, checkIntegrity, type CheckOptions } from '../../content/upkeep/integrity-check.ts';
import { guardedSockets } from '../../net/guarded-sockets.ts';
import type { AllowedRange } from '../../net/private-address.ts';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { Sealer, type SealingKey } from '../../runtime/sealing.ts';
import { insertJob } from '../../store/postgres/job-store.ts';
import type { SqlPool } from '../../store/postgres/pool.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import { Registry } from '../../store/postgres/registry.ts';
import { CLEAR_CACHES } from '../../store/redis/tagged-cache.ts';
import { type TenantStorage, tenantStorage } from '../../store/tenant-resources.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { CommandError, messageOf } from '../../runtime/command-error.ts';

const DEFAULT_SAMPLE = { versions: 100, maxBytes: 256 << 20 };

interface DoctorOptions {
  readonly installation: Installation;
  readonly repair: boolean;
  /** The number of versions to read and compare with their checksums. */
  readonly sample: number | 'all' | undefined;
}

/**
 * Checks a tenant's rows and objects and prints each fault as a sentence. Returns true if nothing is wrong, or everything was
 * repaired.
 */
export async function checkTenant(slug: string, options: DoctorOptions): Promise<boolean> {
  const stores = await options.installation.stores();
  const platformKeys = requireKeys(stores, 'worker');
  const pools = openShards(stores.shardsDir, 'worker', { poolSize: 2, queryTimeoutMs: 600_000 });
  try {
    const checked = await open(slug, { platformKeys, egressAllow: stores.egressAllow, pools });
    let [found, repaired] = [0, 0];
    for await (const { fault, isRepaired } of checkIntegrity(checked, {
      repair: options.repair,
      sample: sampleOf(options.sample),
    })) {
      found += 1;
      if (isRepaired) repaired += 1;
      process.stdout.write(`${describeFault(fault)}${isRepaired ? '; repaired' : ''}\n`);
    }
    process.stdout.write(`${summaryOf(slug, found, repaired, options.repair)}\n`);
    return found === repaired;
  } catch (error) {
    if (error instanceof StoreUnavailableError)
      throw new CommandError(`a store does not answer: ${messageOf(error.cause ?? error)}`);
    throw error;
  } finally {
    await Promise.all([...pools.values()].map((pool) => pool.close()));
  }
}

function summaryOf(slug: string, found: number, repaired: number, repair: boolean): string {
  if (found === 0) return `${slug}: nothing is wrong.`;
  const count = `${slug}: ${found} ${found === 1 ? 'fault' : 'faults'}`;
  if (repaired === found) return `${count}, all repaired.`;
  if (repair) return `${count}, ${repaired} repaired. The rest needs a person: docs/runbooks/CarrelIntegrityFaults.md.`;
  return `${count}. --repair repairs what it safely can; for the rest see docs/runbooks/CarrelIntegrityFaults.md.`;
}

/** A person who gives a number also has the largest files read. */
const sampleOf = (sample: DoctorOptions['sample']): CheckOptions['sample'] =>
  sample === undefined ? DEFAULT_SAMPLE : { versions: sample, maxBytes: Number.MAX_SAFE_INTEGER };

/** The access of the worker. */
interface Opened {
  readonly platformKeys: readonly SealingKey[];
  readonly egressAllow: readonly AllowedRange[];
  readonly pools: ReadonlyMap<string, SqlPool>;
}

async function open(slug: string, { platformKeys, egressAllow, pools }: Opened): Promise<Checked> {
  const [registryPool] = pools.values();
  const time = { clock: systemClock, random: systemRandom };
  const registry = new Registry({ pool: registryPool as SqlPool, sealer: new Sealer(platformKeys, systemRandom), ...time });
  const [tenant] = await (registryPool as SqlPool).query<{ shard: string }>(
    'SELECT shard FROM registry.tenants WHERE slug = $1',
    [slug],
  );
  if (!tenant) throw new CommandError(`there is no tenant with the slug ${slug}, and no data of one`);
  const pool = pools.get(tenant.shard);
  if (!pool) throw new CommandError(`the data of ${slug} are on shard ${tenant.shard}, which is not in CARREL_SHARDS_DIR`);
  const role = tenantRole(slug);
  return {
    slug,
    transaction: (fn) => pool.transaction(fn, { role }),
    // The command has no Redis, so the worker clears the caches.
    recounting: (fn) =>
      pool.transaction(
        async (tx) => {
          await fn(tx);
          await insertJob(tx, { kind: CLEAR_CACHES, payload: { subjects: [USERS_TAG] } });
        },
        { role },
      ),
    storage: await storageOf(slug, registry, registryPool as SqlPool, egressAllow),
    now: systemClock.now(),
    signal: new AbortController().signal,
  };
}

const storageOf = (slug: string, registry: Registry, pool: SqlPool, allow: readonly AllowedRange[]): Promise<TenantStorage> =>
  tenantStorage({ registry, pool, clock: systemClock, connect: guardedSockets({ allow, clock: systemClock }) }).of(slug);
