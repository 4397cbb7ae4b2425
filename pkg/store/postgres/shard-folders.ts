import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutLineEnd } from '../../runtime/line-end.ts';

/** A shard as the files of its folder describe it; a field without a file is undefined. */
export interface ShardFolder {
  readonly name: string;
  /** `url`: the operator's own address: direct, not through a pooler. */
  readonly url: string | undefined;
  /** `worker-url`: the address where the worker logs in. */
  readonly workerUrl: string | undefined;
  /** `tenant-address`: host:port to which tenants connect. */
  readonly tenantAddress: string | undefined;
}

type Field = Exclude<keyof ShardFolder, 'name'>;

const FILES: Readonly<Record<Field, string>> = { url: 'url', workerUrl: 'worker-url', tenantAddress: 'tenant-address' };

/** A shard whose folder has at least these fields. */
type Described<F extends Field> = ShardFolder & { readonly [Name in F]: string };

/**
 * Reads a directory with one subdirectory per shard (CARREL_SHARDS_DIR), sorted by name: the first shard holds the registry.
 * Throws what `wrong` returns if the directory has no shard, or a shard's folder lacks a needed field.
 */
export function readShardFolders<F extends Field>(
  dir: string,
  needed: readonly F[],
  wrong: (what: string) => Error,
): Described<F>[] {
  const shards = namesIn(dir, wrong).map((name) => shardIn(dir, name));
  if (shards.length === 0) throw wrong(`${dir} holds no shard`);
  for (const shard of shards)
    for (const field of needed) {
      const fault = faultOf(field, shard[field]);
      if (fault !== undefined) throw wrong(`shard ${shard.name} ${fault}`);
    }
  return shards as Described<F>[];
}

function namesIn(dir: string, wrong: (what: string) => Error): string[] {
  try {
    // A mounted Secret has hidden folders beside the visible ones.
    return readdirSync(dir)
      .filter((name) => !name.startsWith('.'))
      .toSorted();
  } catch {
    throw wrong(`${dir} cannot be read`);
  }
}

function shardIn(dir: string, name: string): ShardFolder {
  const read = (field: Field): string | undefined => {
    try {
      return withoutLineEnd(readFileSync(join(dir, name, FILES[field]), 'utf8')) || undefined;
    } catch {
      return undefined;
    }
  };
  return { name, url: read('url'), workerUrl: read('workerUrl'), tenantAddress: read('tenantAddress') };
}

function faultOf(field: Field, value: string | undefined): string | undefined {
  if (field === 'tenantAddress') return value === undefined ? 'has no file tenant-address' : undefined;
  return value !== undefined && URL.canParse(value) ? undefined : `has no address in its file ${FILES[field]}`;
}
