import type { Installation } from './installation.ts';
import { registryShard } from './shards.ts';
import { silentLogger } from '../runtime/log.ts';
import { sqlState } from '../store/postgres/errors.ts';
import { SqlPool } from '../store/postgres/pool.ts';
import { StoreUnavailableError } from '../store/unavailable.ts';
import { CommandError, messageOf } from '../runtime/command-error.ts';

/** "schema, relation or column does not exist" */
const ABSENT = new Set(['3F000', '42P01', '42703']);

/**
 * Returns an error for people if `error` says that something is missing in `shard`, the first by name, as before an operator of
 * this version has run. Otherwise returns undefined.
 */
export function missingRegistry(error: unknown, shard: string): CommandError | undefined {
  if (!ABSENT.has(sqlState(error) ?? '')) return undefined;
  return new CommandError(
    `shard ${shard}, the first by name, has no registry of this version (${messageOf(error)}). ` +
      `Start the operator of this version first. ` +
      `If ${shard} is a new shard, give it a name that sorts after the registry's shard`,
  );
}

/**
 * Runs `work` on the registry, as the operator reaches it. Throws CommandError if the registry is missing or does not answer, and
 * the errors of `work`.
 */
export async function withRegistry<T>(installation: Installation, work: (pool: SqlPool) => Promise<T>): Promise<T> {
  const { shardsDir } = await installation.stores();
  const { name, url } = registryShard(shardsDir);
  const pool = new SqlPool({ url, poolSize: 1, log: silentLogger });
  try {
    return await work(pool);
  } catch (error) {
    if (error instanceof StoreUnavailableError)
      throw new CommandError(`the registry does not answer: ${messageOf(error.cause ?? error)}`);
    throw missingRegistry(error, name) ?? error;
  } finally {
    await pool.close();
  }
}
