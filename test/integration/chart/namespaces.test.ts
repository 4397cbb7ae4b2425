import { expect, test } from '@jest/globals';
import { DEPLOYMENT } from '../../../pkg/kube/kinds.ts';
import { isNotFound } from '../../../pkg/kube/errors.ts';
import { LEAST, objectsIn, renderText } from '../../support/chart.ts';
import { condition, installAccess, newNamespace, sharedCluster, startOperator, tenantOf, unique } from '../../support/operator.ts';
import { waitFor } from '../../support/wait.ts';

test('an operator of named namespaces, with rights in these alone, makes and deletes their tenants and leaves all others alone', async () => {
  const cluster = await sharedCluster('idle');
  try {
    const [system, first, second, other] = [
      await newNamespace(cluster),
      await newNamespace(cluster),
      await newNamespace(cluster),
      await newNamespace(cluster),
    ];
    const values = { ...LEAST, fullnameOverride: unique('op'), tenants: { namespaces: [first, second] } };
    const rights = objectsIn(await renderText(values, '--namespace', system)).filter(({ kind, metadata }) =>
      kind === 'ServiceAccount' ? metadata.name.endsWith('-operator') : /Role(Binding)?$/.test(kind),
    );
    const operatorConfig = await installAccess(cluster.api, cluster.client, rights);
    const [here, there, elsewhere] = [unique(), unique(), unique()];
    await cluster.tenants.create(tenantOf(other, elsewhere));
    await cluster.tenants.create(tenantOf(first, here, { deletionPolicy: 'Delete' }));

    const operator = await startOperator(
      { ...cluster, operatorConfig },
      { env: { CARREL_TENANT_NAMESPACES: `${first},${second}`, CARREL_LEADER_ELECTION_NAMESPACE: system } },
    );
    await cluster.tenants.create(tenantOf(second, there));
    await condition(cluster.tenants, { namespace: first, name: here }, 'WorkloadAvailable', 'False', 'RollingOut');
    await condition(cluster.tenants, { namespace: second, name: there }, 'WorkloadAvailable', 'False', 'RollingOut');
    await cluster.tenants.delete({ namespace: first, name: here });
    await waitFor('the deletion of the tenant', () =>
      cluster.tenants.get({ namespace: first, name: here }).then(
        () => false,
        (error: unknown) => isNotFound(error),
      ),
    );

    const untouched = await cluster.tenants.get({ namespace: other, name: elsewhere });
    expect([untouched.metadata.finalizers, untouched.status]).toEqual([undefined, undefined]);
    expect(await cluster.of(DEPLOYMENT).list({ namespace: other })).toEqual([]);
    expect(operator.output()).not.toMatch(/forbidden/i);
  } finally {
    await cluster.close();
  }
});
