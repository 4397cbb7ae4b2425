import { cp, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { testBackends } from '../../support/backends/backends.ts';
import { stores, type TestStores } from '../../support/backends/stores.ts';

/** Databases of the tenants, each on a Postgres server of its own, as an installation has them. */
export interface BenchShards {
  /** CARREL_SHARDS_DIR; an operator that is started later finds what was added. */
  readonly directory: string;
  /** Returns the URL of the newest shard for the operator's role. */
  url(): string;
  add(): Promise<void>;
  close(): Promise<void>;
}

export async function benchShards(): Promise<BenchShards> {
  const { scratch, stores: first } = testBackends();
  const directory = await mkdtemp(join(scratch, 'shards-'));
  const added: TestStores[] = [];
  await cp(join(first.shardsDir, 'main'), join(directory, 'main'), { recursive: true });
  return {
    directory,
    url: () => (added.at(-1) ?? first).postgres.operator,
    add: async () => {
      const another = await stores();
      added.push(another);
      await cp(join(another.shardsDir, 'main'), join(directory, `shard-${added.length + 1}`), { recursive: true });
    },
    close: async () => {
      await Promise.all(added.map((each) => each.stop()));
      await rm(directory, { recursive: true });
    },
  };
}
