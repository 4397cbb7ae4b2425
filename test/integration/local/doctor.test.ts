import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { CUSTOM_RESOURCE_DEFINITION, type CustomResourceDefinition } from '../../../pkg/kube/kinds.ts';
import { ResourceApi } from '../../../pkg/kube/resource.ts';
import { KubeClient } from '../../../pkg/kube/transport.ts';
import { run } from '../../../pkg/local/binaries/run.ts';
import { TENANT } from '../../../pkg/operator/kinds.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { Sealer } from '../../../pkg/runtime/sealing.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { Registry } from '../../../pkg/store/postgres/registry.ts';
import { type ApiServer, startApiServer } from '../../support/cluster/apiserver.ts';
import { programEnvironment, ROOT, testBackends } from '../../support/backends/backends.ts';
import { operatorEnvironment, tenantOf } from '../../support/cluster/operator.ts';
import { waitFor } from '../../support/wait.ts';

/** `carrel doctor` on an API server of its own, without an operator: the test writes what an operator would. */
let api: ApiServer;
let client: KubeClient;
beforeAll(async () => {
  api = await startApiServer();
  client = new KubeClient({ kubeConfig: api.kubeConfig, metrics: createMetrics('doctor') });
  await writeFile(join(api.dir, 'kubeconfig'), api.kubeConfig.exportConfig());
});
afterAll(async () => {
  await client.close();
  await api.close();
});

const definitionOf = (plural: string): CustomResourceDefinition =>
  parse(readFileSync(join(ROOT, 'crds', `${plural}.carrel.dev.yaml`), 'utf8')) as CustomResourceDefinition;

/** Returns the definition of an earlier release. */
function withoutSuspended(): CustomResourceDefinition {
  const definition = definitionOf('tenants');
  for (const { schema } of definition.spec.versions)
    delete schema?.openAPIV3Schema?.properties?.['spec']?.properties?.['suspended'];
  return definition;
}

async function doctor(): Promise<string> {
  const { output } = await run(process.execPath, ['cmd/carrel/main.ts', 'doctor'], {
    cwd: ROOT,
    env: { ...programEnvironment(), ...operatorEnvironment(testBackends().stores), KUBECONFIG: join(api.dir, 'kubeconfig') },
  });
  return output;
}

test('doctor says whether the custom resources are of this release, and reports what has waited over ten minutes', async () => {
  const definitions = new ResourceApi(client, CUSTOM_RESOURCE_DEFINITION);
  const tenants = new ResourceApi(client, TENANT);
  for (const definition of [withoutSuspended(), definitionOf('webhooks'), definitionOf('ltiregistrations')])
    await definitions.create(definition);
  const before = await waitFor('the schemas', async () => {
    const output = await doctor();
    return /^custom resources +WRONG +Tenant is of/m.test(output) && output;
  });

  await definitions.apply(definitionOf('tenants'), { fieldManager: 'test', force: true });
  for (const [name, minutes] of [
    ['long', 11],
    ['short', 5], // far enough from ten for commands on a busy machine
  ] as const) {
    // While the API server takes the changed definition over it may refuse its objects.
    await waitFor('the changed definition to be served', () => tenants.create(tenantOf('default', name)).then(() => true));
    const lastTransitionTime = new Date(Date.now() - minutes * 60_000).toISOString();
    const waits = {
      type: 'Ready',
      status: 'Unknown',
      reason: 'WaitingForGateway',
      message: 'Waiting for gateways/edge',
      lastTransitionTime,
    };
    await tenants.patchStatus({ namespace: 'default', name }, { conditions: [waits] });
  }
  const after = await waitFor('the schema of this release', async () => {
    const output = await doctor();
    return /^custom resources +ok /m.test(output) && output;
  });

  expect(before).toMatch(
    /^custom resources +WRONG +Tenant is of an earlier release: it lacks spec\.suspended\. Upgrade the chart/m,
  );
  expect(after).toMatch(/^custom resources +ok +Tenant, LtiRegistration, Webhook are served and of this release$/m);
  expect(after).toMatch(/^tenants +WRONG +default\/long: WaitingForGateway: Waiting for gateways\/edge$/m);
  expect(after).not.toContain('default/short');
});

test('doctor says that the indexes of names were built with another ICU than the server has, and what to do', async () => {
  const { postgres } = testBackends().stores;
  const [operator, superuser] = [postgres.operator, postgres.superuser].map(
    (url) => new SqlPool({ url, poolSize: 1, log: silentLogger }),
  );
  const sealer = new Sealer([{ id: 'x', key: systemRandom.bytes(32) }], systemRandom);
  await new Registry({ pool: operator as SqlPool, sealer, clock: systemClock, random: systemRandom }).ensureSchema();
  const version = (text: string): Promise<unknown> =>
    (superuser as SqlPool).query(
      `UPDATE pg_collation SET collversion = ${text} WHERE collnamespace = 'carrel'::regnamespace AND collname = 'names'`,
    );

  await version(`'1.1'`);
  const before = await doctor();
  await version('pg_collation_actual_version(oid)');
  const after = await doctor();
  await Promise.all([operator?.close(), superuser?.close()]);

  expect(before).toMatch(/^shard \S+ +WRONG +its indexes of names were built with ICU 1\.1, /m);
  expect(before).toMatch(/ICU 1\.1, .*REINDEX DATABASE .*ALTER COLLATION carrel\.names REFRESH VERSION/);
  expect(after).not.toMatch(/indexes of names/);
});
