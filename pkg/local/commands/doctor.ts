import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import { describeFault } from '../../content/integrity/faults.ts';
import { type Checked, checkIntegrity, type CheckOptions } from '../../content/integrity/integrity-check.ts';
import { guardedSockets } from '../../net/guarded-sockets.ts';
import { type AllowedRange, parseAllowedRanges } from '../../net/private-address.ts';
import { withoutLineEnd } from '../../runtime/line-end.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLogger } from '../../runtime/log.ts';
import { systemRandom } from '../../runtime/random.ts';
import { parseSealingKeys, SealError, Sealer, type SealingKey } from '../../runtime/sealing.ts';
import { insertJob } from '../../store/postgres/job-store.ts';
import { SqlPool } from '../../store/postgres/pool.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import { Registry } from '../../store/postgres/registry.ts';
import { CLEAR_CACHES } from '../../store/redis/tagged-cache.ts';
import { type TenantStorage, tenantStorage } from '../../store/tenant-resources.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { CommandError, messageOf } from '../../runtime/command-error.ts';
import { existingStateDirectory, paths } from '../state-directory.ts';

const DEFAULT_SAMPLE = { versions: 100, maxBytes: 256 << 20 };

export interface DoctorOptions {
  readonly stateDirectory: string;
  readonly env: NodeJS.ProcessEnv;
  readonly mend: boolean;
  /** How many versions are read and compared with their checksums. */
  readonly sample: number | 'all' | undefined;
}

interface Access {
  readonly shardsDir: string;
  readonly platformKeys: string;
  readonly egressAllow: string;
}

/** Checks a tenant's rows and objects and prints each fault as a sentence. True: nothing is wrong, or all of it was put right. */
export async function checkTenant(slug: string, options: DoctorOptions): Promise<boolean> {
  const access = accessOf(options);
  const pools = poolsOf(access.shardsDir);
  try {
    const checked = await open(slug, access, pools);
    let [found, mended] = [0, 0];
    for await (const { fault, isMended } of checkIntegrity(checked, { mend: options.mend, sample: sampleOf(options.sample) })) {
      found += 1;
      if (isMended) mended += 1;
      process.stdout.write(`${describeFault(fault)}${isMended ? '; put right' : ''}\n`);
    }
    process.stdout.write(`${summaryOf(slug, found, mended, options.mend)}\n`);
    return found === mended;
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw new CommandError(`a store does not answer: ${messageOf(error.cause ?? error)}`);
    throw error;
  } finally {
    await Promise.all([...pools.values()].map((pool) => pool.close()));
  }
}

function summaryOf(slug: string, found: number, mended: number, mend: boolean): string {
  if (found === 0) return `${slug}: nothing is wrong.`;
  const count = `${slug}: ${found} ${found === 1 ? 'fault' : 'faults'}`;
  if (mended === found) return `${count}, all put right.`;
  if (mend) return `${count}, ${mended} put right. The rest needs a person: docs/runbooks/CarrelIntegrityFaults.md.`;
  return `${count}. Put right what leaves no choice by --mend; for the rest see docs/runbooks/CarrelIntegrityFaults.md.`;
}

/** Who says how many has the largest files read too. */
const sampleOf = (sample: DoctorOptions['sample']): CheckOptions['sample'] =>
  sample === undefined ? DEFAULT_SAMPLE : { versions: sample, maxBytes: Number.MAX_SAFE_INTEGER };

/** As the worker has it, in the worker's pod; else of the platform on this machine. */
function accessOf({ env, stateDirectory }: DoctorOptions): Access {
  const shardsDir = env['CARREL_SHARDS_DIR'];
  if (!shardsDir) {
    const { path, settings } = existingStateDirectory(stateDirectory);
    return { shardsDir: paths(path).shards, platformKeys: settings.platformKeys, egressAllow: '127.0.0.0/8,::1/128' };
  }
  const platformKeys = env['CARREL_PLATFORM_KEYS'];
  if (!platformKeys) throw new CommandError('CARREL_PLATFORM_KEYS is not set. Run this where the worker runs: it has all that is needed.');
  return { shardsDir, platformKeys, egressAllow: env['CARREL_EGRESS_ALLOW'] ?? '' };
}

/** A pool of each shard by its name, as the worker's role; the first holds the registry. */
function poolsOf(dir: string): ReadonlyMap<string, SqlPool> {
  const pools = new Map<string, SqlPool>();
  try {
    for (const name of readdirSync(dir)
      .filter((entry) => !entry.startsWith('.'))
      .toSorted()) {
      const url = withoutLineEnd(readFileSync(join(dir, name, 'worker-url'), 'utf8'));
      pools.set(name, new SqlPool({ url, poolSize: 2, queryTimeoutMs: 600_000, log: silentLogger }));
    }
  } catch (error) {
    throw new CommandError(`${dir} has no file worker-url of each shard (${messageOf(error)}). Run this where the worker runs.`);
  }
  if (pools.size === 0) throw new CommandError(`${dir} holds no shard. Set CARREL_SHARDS_DIR as the worker has it.`);
  return pools;
}

async function open(slug: string, access: Access, pools: ReadonlyMap<string, SqlPool>): Promise<Checked> {
  const [registryPool] = pools.values();
  const time = { clock: systemClock, random: systemRandom };
  const registry = new Registry({ pool: registryPool as SqlPool, sealer: new Sealer(keysOf(access.platformKeys), systemRandom), ...time });
  const [tenant] = await (registryPool as SqlPool).query<{ shard: string }>('SELECT shard FROM registry.tenants WHERE slug = $1', [slug]);
  if (!tenant) throw new CommandError(`there is no tenant with the slug ${slug}, and no data of one`);
  const pool = pools.get(tenant.shard);
  if (!pool) throw new CommandError(`the data of ${slug} are on shard ${tenant.shard}, which is not in CARREL_SHARDS_DIR`);
  const role = tenantRole(slug);
  return {
    slug,
    transaction: (fn) => pool.transaction(fn, { role }),
    // It has no Redis: the worker clears the caches.
    recounting: (fn) =>
      pool.transaction(
        async (tx) => {
          await fn(tx);
          await insertJob(tx, { kind: CLEAR_CACHES, payload: { subjects: [USERS_TAG] } });
        },
        { role },
      ),
    storage: await storageOf(slug, registry, registryPool as SqlPool, parseAllowedRanges(access.egressAllow)),
    now: systemClock.now(),
    signal: new AbortController().signal,
  };
}

const storageOf = (slug: string, registry: Registry, pool: SqlPool, allow: readonly AllowedRange[]): Promise<TenantStorage> =>
  tenantStorage({ registry, pool, clock: systemClock, connect: guardedSockets({ allow, clock: systemClock }) }).of(slug);

function keysOf(text: string): SealingKey[] {
  try {
    return parseSealingKeys(text);
  } catch (error) {
    if (error instanceof SealError) throw new CommandError(`CARREL_PLATFORM_KEYS is not valid: ${error.message}`);
    throw error;
  }
}
