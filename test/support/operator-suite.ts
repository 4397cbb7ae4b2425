import { afterAll, beforeAll } from '@jest/globals';
import type { ObjectKey } from '../../pkg/kube/object.ts';
import { NAMESPACE } from '../../pkg/kube/kinds.ts';
import { playPods, ready, secretValues, startCluster, startOperator, tenantOf, unique, type Cluster } from './operator.ts';
import { stores, type TestStores } from './stores.ts';

interface SuiteOptions {
  /** Stores of the file's own: for one that harms them, or that counts what all tenants leave in a shard. */
  readonly ownStores?: boolean;
  /** False: the tests start the operators. */
  readonly operator?: boolean;
  /** Settings of the operator. */
  readonly env?: (namespace: string) => NodeJS.ProcessEnv;
}

export interface OperatorSuite {
  /** There from the first hook of the file's own on. */
  readonly cluster: Cluster;
  readonly stores: TestStores;
  /** Of the file's own. */
  readonly namespace: string;
  /** Creates a Tenant and waits until it is Ready. */
  readyTenant(spec?: object, namespace?: string): Promise<ObjectKey>;
  /** Where a tenant's server finds its schema. */
  databaseUrl(tenant: ObjectKey): Promise<string>;
}

const START_MS = 180_000;

/**
 * An API server with the custom resources, pods that become available at once, and an operator, for one test file. Registers its own hooks; what a file
 * adds ends before them by `cluster.onClose`.
 */
export function operatorSuite({ ownStores = false, operator = true, env }: SuiteOptions = {}): OperatorSuite {
  const cluster = {} as Cluster;
  const own = {} as TestStores;
  const namespace = unique('ns');

  beforeAll(async () => {
    const [started, running] = await Promise.all([startCluster(), ownStores ? stores() : undefined]);
    Object.assign(cluster, started);
    if (running) Object.assign(own, running);
    playPods(cluster);
    await cluster.of(NAMESPACE).create({ metadata: { name: namespace } });
    if (operator) await startOperator(cluster, { ...(env ? { env: env(namespace) } : {}), ...(running ? { stores: running } : {}) });
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
