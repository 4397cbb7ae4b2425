import { CommandError } from '../runtime/command-error.ts';
import { silentLogger } from '../runtime/log.ts';
import { SqlPool } from '../store/postgres/pool.ts';
import { readShardFolders, type ShardFolder } from '../store/postgres/shard-folders.ts';

/** The program whose role and settings a command uses. */
type Program = 'operator' | 'worker';

const NEEDED = { operator: 'url', worker: 'workerUrl' } as const;

const wrongFor =
  (program: Program) =>
  (what: string): CommandError =>
    new CommandError(`${what}. Set CARREL_SHARDS_DIR as the ${program} has it.`);

/** Returns every shard, even one whose folder has no address. Throws CommandError if there is none. */
export const listShards = (dir: string): ShardFolder[] => readShardFolders(dir, [], wrongFor('operator'));

/** Returns the shard that holds the registry, with the operator's address. Throws CommandError. */
export function registryShard(dir: string): { readonly name: string; readonly url: string } {
  const [first] = readShardFolders(dir, ['url'], wrongFor('operator'));
  if (!first) throw wrongFor('operator')(`${dir} holds no shard`);
  return first;
}

/**
 * Opens a pool for each shard by its name, in the role of the program; the first shard holds the registry. Throws CommandError.
 */
export function openShards(
  dir: string,
  program: Program,
  options: { readonly poolSize: number; readonly queryTimeoutMs: number },
): ReadonlyMap<string, SqlPool> {
  const field = NEEDED[program];
  const shards = readShardFolders(dir, [field], wrongFor(program));
  return new Map(shards.map((shard) => [shard.name, new SqlPool({ url: shard[field], ...options, log: silentLogger })]));
}
