import { afterAll, beforeAll } from '@jest/globals';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { NAMESPACE } from '../../../pkg/kube/kinds.ts';
import {
  playPods,
  ready,
  secretValues,
  sharedCluster,
  startCluster,
  startOperator,
  tenantOf,
  unique,
  type Cluster,
} from '../cluster/operator.ts';
import { runOperator } from '../cluster/operator-in-process.ts';
import type { SharedName } from '../cluster/shared-cluster-access.ts';
import { stores, type TestStores } from '../backends/stores.ts';

interface SuiteOptions {
  /** Stores of the file's own: for one that harms them, or that counts what all tenants leave in a shard. */
  readonly ownStores?: boolean;
  /** False: the tests start the operators. */
  readonly operator?: boolean;
  /** With `ownStores`: the operator runs in this process and polls the shard this often. */
  readonly shardPollMs?: number;
  /** An API server of the file's own, as with each of the above: for one that counts the requests of all. */
  readonly ownCluster?: boolean;
  /** The API server that files share (shared-clusters.ts), where it is another than `operated`. */
  readonly shared?: SharedName;
  /** The file's namespace; left out, a new name. */
  readonly namespace?: string;
}

export interface OperatorSuite {
  /** There from the first hook of the file's own on. */
  readonly cluster: Cluster;
  readonly stores: TestStores;
  /** The file's own namespace. Tests touch no Tenant of another file. */
  readonly namespace: string;
  /** Creates a Tenant and waits until it is Ready. */
  readyTenant(spec?: object, namespace?: string): Promise<ObjectKey>;
  /** Returns the database URL of a tenant's server. */
  databaseUrl(tenant: ObjectKey): Promise<string>;
}

const START_MS = 180_000;

/**
 * The API server and the operator that files share, or those of the file's own, on which pods become available at once too.
 * Registers its own hooks; what a file adds ends before them by `cluster.onClose`.
 */
export function operatorSuite(options: SuiteOptions = {}): OperatorSuite {
  const {
    ownStores = false,
    operator = true,
    shardPollMs,
    ownCluster = ownStores || !operator,
    namespace = unique('ns'),
  } = options;
  const { shared = 'operated' } = options;
  const cluster = {} as Cluster;
  const own = {} as TestStores;

  beforeAll(async () => {
    const [found, running] = await Promise.all([
      ownCluster ? startCluster() : sharedCluster(shared),
      ownStores ? stores() : undefined,
    ]);
    Object.assign(cluster, found);
    if (running) Object.assign(own, running);
    await cluster.of(NAMESPACE).create({ metadata: { name: namespace } });
    if (!ownCluster) return;
    playPods(cluster);
    if (!operator) return;
    if (running && shardPollMs !== undefined) runOperator(cluster, { stores: running, shardPollMs });
    else await startOperator(cluster, running ? { stores: running } : {});
  }, START_MS);

  afterAll(async () => {
    await cluster.close?.();
    await own.stop?.();
  }, 60_000);

  return {
    cluster,
    stores: own,
    namespace,
    readyTenant: async (spec = {}, where = namespace) => {
      const key = { namespace: where, name: unique() };
      await cluster.tenants.create(tenantOf(where, key.name, spec));
      await ready(cluster.tenants, key);
      return key;
    },
    databaseUrl: async ({ namespace: where, name }) => (await secretValues(cluster, where, `${name}-database`))?.['url'] ?? '',
  };
}
