import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutLineEnd } from '../runtime/line-end.ts';
import { silentLogger } from '../runtime/log.ts';
import { sqlState } from '../store/postgres/errors.ts';
import { SqlPool } from '../store/postgres/pool.ts';
import { StoreUnavailableError } from '../store/unavailable.ts';
import { CommandError, messageOf } from '../runtime/command-error.ts';
import { existingStateDirectory, paths } from './state-directory.ts';

/** "schema, relation or column does not exist" */
const ABSENT = new Set(['3F000', '42P01', '42703']);

/** For a person, where `error` says that something is absent, as in `shard`, the first by name, before an operator of this version has run; else undefined. */
export function missingRegistry(error: unknown, shard: string): CommandError | undefined {
  if (!ABSENT.has(sqlState(error) ?? '')) return undefined;
  return new CommandError(
    `shard ${shard}, the first by name, has no registry of this version (${messageOf(error)}). Start the operator of this version first; where ${shard} is a new shard, give it a name that sorts after that of the registry's`,
  );
}

/**
 * Works in the registry: of `shardsDir` (CARREL_SHARDS_DIR, as in the operator's pod), else of the platform on this machine. Throws CommandError where
 * there is none or it does not answer, and what `work` throws.
 */
export async function withRegistry<T>(
  options: { stateDirectory: string; shardsDir: string | undefined },
  work: (pool: SqlPool) => Promise<T>,
): Promise<T> {
  const dir = options.shardsDir || paths(existingStateDirectory(options.stateDirectory).path).shards;
  const { shard, url } = registryIn(dir);
  const pool = new SqlPool({ url, poolSize: 1, log: silentLogger });
  try {
    return await work(pool);
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw new CommandError(`the registry does not answer: ${messageOf(error.cause ?? error)}`);
    throw missingRegistry(error, shard) ?? error;
  } finally {
    await pool.close();
  }
}

/** The first shard by name holds the registry. */
function registryIn(dir: string): { shard: string; url: string } {
  try {
    const [shard] = readdirSync(dir)
      .filter((name) => !name.startsWith('.'))
      .toSorted();
    if (shard !== undefined) return { shard, url: withoutLineEnd(readFileSync(join(dir, shard, 'url'), 'utf8')) };
  } catch (error) {
    throw new CommandError(`${dir} holds no address of the registry (${messageOf(error)}). Set CARREL_SHARDS_DIR as the operator has it.`);
  }
  throw new CommandError(`${dir} holds no shard. Set CARREL_SHARDS_DIR as the operator has it.`);
}
