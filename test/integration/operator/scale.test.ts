import { expect, test } from '@jest/globals';
import { isConditionTrue } from '../../../pkg/kube/status.ts';
import { TENANT, type Tenant } from '../../../pkg/operator/kinds.ts';
import { range, waitFor } from '../../support/wait.ts';
import { difference, writes } from '../../support/cluster/apiserver-metrics.ts';
import { children, follow, newNamespace, tenantOf, unique } from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

/** `make faults` runs 200 (TENANTS) and a minute (REST_MS). */
const TENANTS = Number(process.env['TENANTS'] ?? 24);
/** An Event's count is written half a minute late, and the operator looks at each shard every 5 s. */
const REST_MS = Number(process.env['REST_MS'] ?? 35_000);

const { cluster } = operatorSuite({ ownCluster: true });

test(`${TENANTS} Tenants applied at once become Ready, and then there is no write for ${REST_MS / 1_000} s`, async () => {
  const namespace = await newNamespace(cluster);
  const prefix = unique('s');

  await Promise.all(range(TENANTS).map((i) => cluster.tenants.create(tenantOf(namespace, `${prefix}-${i}`))));
  // Uses a watch: lists of all Tenants would take the API server's time.
  const { store, stop } = follow(cluster, TENANT, namespace);
  const isReady = (tenant: Tenant): boolean => isConditionTrue(tenant as Parameters<typeof isConditionTrue>[0], 'Ready');
  await waitFor('all of them to be Ready', () => store.list().filter(isReady).length === TENANTS, 400_000);
  await stop();
  // The last Events and statuses are on their way.
  await waitFor('the end of the writes', async () => {
    const counted = await writes(cluster);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    return Object.keys(difference(counted, await writes(cluster))).length === 0;
  });
  const [began, before] = [new Date().toISOString(), await writes(cluster)];
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  // An Event's count is written half a minute late: that is none of this minute's, if what it counts is not.
  const { 'PATCH events': _counts, ...written } = difference(before, await writes(cluster));
  const events = await cluster.of(children.EVENT).list({ namespace });
  const recent = events.filter(({ eventTime, series }) => (series?.lastObservedTime ?? eventTime) > began);

  expect(written).toEqual({});
  expect(recent).toEqual([]);
}, 600_000);
