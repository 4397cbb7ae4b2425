import { beforeAll } from '@jest/globals';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import { operatorSuite, type OperatorSuite } from '../../support/suites/operator-suite.ts';

interface ServedTenant {
  readonly name: string;
  /** Its database as its server has it. */
  readonly db: Database;
}

/**
 * An operator with stores of its own, which polls its shard every `shardPollMs`, and a Ready tenant: there from the first hook of
 * the file's own on.
 */
export function servedTenant(shardPollMs: number): OperatorSuite & { readonly tenant: ServedTenant } {
  const suite = operatorSuite({ ownStores: true, shardPollMs });
  const tenant = {} as ServedTenant;
  beforeAll(async () => {
    const key = await suite.readyTenant();
    const db = new Database({ url: await suite.databaseUrl(key), poolSize: 2, log: silentLogger });
    Object.assign(tenant, { name: key.name, db });
    suite.cluster.onClose(() => db.close());
  }, 180_000);
  return { ...suite, tenant };
}
