import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { KubeConfig } from '@kubernetes/client-node';
import { DEPLOYMENT, NAMESPACE } from '../../../pkg/kube/kinds.ts';
import type { KubeObject } from '../../../pkg/kube/object.ts';
import { isNotFound } from '../../../pkg/kube/errors.ts';
import { ResourceApi } from '../../../pkg/kube/resource.ts';
import { run } from '../../../pkg/local/binaries/run.ts';
import { programEnvironment, ROOT, testBackends } from '../../support/backends/backends.ts';
import { installAccess, KINDS } from '../../support/cluster/access.ts';
import { LEAST, objectsIn, renderText } from '../../support/cluster/chart.ts';
import {
  type Cluster,
  condition,
  newNamespace,
  operatorEnvironment,
  sharedCluster,
  startOperator,
  tenantOf,
  unique,
} from '../../support/cluster/operator.ts';
import { waitFor } from '../../support/wait.ts';

type NamedObject = KubeObject & { metadata: { name: string } };

/** Deletes a namespace as the namespace controller does, which the API server alone has not: what is in it first. */
async function deleteNamespace(
  cluster: Cluster,
  name: string,
  { rights, isFinal }: { rights: readonly NamedObject[]; isFinal: boolean },
): Promise<void> {
  await cluster.of(NAMESPACE).delete({ namespace: '', name });
  for (const { kind, metadata } of rights.filter(({ metadata }) => metadata.namespace === name)) {
    await new ResourceApi(cluster.client, KINDS[kind ?? '']!).delete({ namespace: name, name: metadata.name });
  }
  if (!isFinal) return;
  await cluster.client.request({
    method: 'PUT',
    path: `/api/v1/namespaces/${name}/finalize`,
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: { finalizers: [] } },
  });
}

/** `carrel` as in the operator's pod: with its account, its stores and its namespaces. */
async function command(access: KubeConfig, namespaces: readonly string[], args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const { scratch, stores } = testBackends();
  const folder = await mkdtemp(join(scratch, 'command-'));
  const KUBECONFIG = join(folder, 'kubeconfig');
  await writeFile(KUBECONFIG, access.exportConfig());
  const env = { ...operatorEnvironment(stores), CARREL_TENANT_NAMESPACES: namespaces.join(), KUBECONFIG, ...more };
  return run(process.execPath, ['cmd/carrel/main.ts', ...args], { cwd: ROOT, env: { ...programEnvironment(), ...env } });
}

test('an operator with rights in named namespaces manages their tenants alone, and so do commands in its pod', async () => {
  const cluster = await sharedCluster('idle');
  try {
    const create = (): Promise<string> => newNamespace(cluster);
    const [system, first, second, other, going, gone] = [
      await create(),
      await create(),
      await create(),
      await create(),
      await create(),
      await create(),
    ];
    const values = { ...LEAST, fullnameOverride: unique('op'), tenants: { namespaces: [first, second, going, gone] } };
    const rights = objectsIn(await renderText(values, '--namespace', system)).filter(({ kind, metadata }) =>
      kind === 'ServiceAccount' ? metadata.name.endsWith('-operator') : /Role(Binding)?$/.test(kind),
    );
    const operatorConfig = await installAccess(cluster.api, cluster.client, rights);
    const [here, there, elsewhere] = [unique(), unique(), unique()];
    await cluster.tenants.create(tenantOf(other, elsewhere));
    // The operator's rights in a namespace go with it.
    await deleteNamespace(cluster, going, { rights, isFinal: false });
    await deleteNamespace(cluster, gone, { rights, isFinal: true });
    await cluster.tenants.create(tenantOf(first, here, { deletionPolicy: 'Delete' }));

    const operator = await startOperator(
      { ...cluster, operatorConfig },
      { env: { CARREL_TENANT_NAMESPACES: [first, second, going, gone].join(), CARREL_LEADER_ELECTION_NAMESPACE: system } },
    );
    await cluster.tenants.create(tenantOf(second, there));
    await condition(cluster.tenants, { namespace: first, name: here }, 'WorkloadAvailable', 'False', 'RollingOut');
    await condition(cluster.tenants, { namespace: second, name: there }, 'WorkloadAvailable', 'False', 'RollingOut');
    const [status, doctor, ofEnded] = await Promise.all([
      command(operatorConfig, [first, second], ['rollout', 'status']),
      command(operatorConfig, [first, second], ['doctor'], { CARREL_LEADER_ELECTION_NAMESPACE: system }),
      command(operatorConfig, [first, going], ['rollout', 'status']),
    ]);
    expect(status).toMatchObject({ code: 0, output: expect.stringMatching(/^2 tenants\n/) });
    expect(doctor.output).toMatch(/^tenants +ok +2, none of which needs attention$/m);
    expect(ofEnded).toMatchObject({
      code: 1,
      output: expect.stringMatching(new RegExp(`^carrel: tenants of namespace ${going} cannot be listed: .*\\n$`)),
    });
    await cluster.tenants.delete({ namespace: first, name: here });
    await waitFor('the deletion of the tenant', () =>
      cluster.tenants.get({ namespace: first, name: here }).then(
        () => false,
        (error: unknown) => isNotFound(error),
      ),
    );

    const untouched = await cluster.tenants.get({ namespace: other, name: elsewhere });
    // The status is what the schema gives to one that no operator has seen.
    expect(untouched.metadata.finalizers).toBeUndefined();
    expect(untouched.status).toEqual({ observedGeneration: -1, conditions: [expect.objectContaining({ reason: 'Pending' })] });
    expect(await cluster.of(DEPLOYMENT).list({ namespace: other })).toEqual([]);
    const ended = (line: string): boolean => line.includes(going) || line.includes(gone);
    expect(
      operator
        .output()
        .split('\n')
        .filter((line) => /forbidden/i.test(line) && !ended(line)),
    ).toEqual([]);
  } finally {
    await cluster.close();
  }
});
