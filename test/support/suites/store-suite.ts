import { systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import type { ShardAccess } from '../../../pkg/store/postgres/provisioning.ts';
import type { Registry } from '../../../pkg/store/postgres/registry.ts';
import { fixture } from './fixture.ts';
import { ownStores } from './server-suite.ts';
import type { TestStores } from '../backends/stores.ts';
import { operatorSide } from '../backends/tenant.ts';

export interface StoreSuite {
  readonly running: TestStores;
  /** The operator's. */
  readonly pool: SqlPool;
  readonly shard: ShardAccess;
  readonly registry: Registry;
}

/** Stores of the file's own, with a shard and a registry as the operator prepares them. Registers its own hooks. */
export function storeSuite(): StoreSuite {
  const running = ownStores();
  const side = fixture(
    () => operatorSide(running),
    ({ pool }) => pool.close(),
  );
  const pool = fixture(
    async () => side.pool,
    async () => {},
  );
  const registry = fixture(
    async () => side.registry,
    async () => {},
  );
  return { running, pool, registry, shard: { pool, clock: systemClock, random: systemRandom } };
}
