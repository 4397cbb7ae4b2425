import { expect, test } from '@jest/globals';
import { recordRequest } from '../../../pkg/lti/registrations/deployment-requests.sql.ts';
import { Deployments } from '../../../pkg/lti/registrations/deployments.service.ts';
import type { LtiRegistration } from '../../../pkg/operator/kinds.ts';
import { children, ready, registrationOf, unique } from '../../support/cluster/operator.ts';
import { range, waitFor } from '../../support/wait.ts';
import { servedTenant } from './served-tenant.ts';

/** Nobody waits for it: the operator is notified. */
const POLL_MS = 20_000;
const { cluster, namespace, tenant } = servedTenant(POLL_MS);

async function newRegistration(spec: Partial<LtiRegistration['spec']> = {}) {
  const key = { namespace, name: unique() };
  const platform = { preset: 'moodle', issuer: `https://${key.name}.example` };
  const wanted = { tenantRef: { name: tenant.name }, platform, clientId: key.name, deploymentPolicy: 'Confirm', ...spec };
  await cluster.registrations.create(registrationOf(namespace, key.name, wanted));
  await ready(cluster.registrations, key);
  const tool = await tenant.db.tables.ltiTools.find({ managedRef: `${namespace}/${key.name}` });
  const at = { toolId: tool?.id ?? 0, platformId: tool?.platformId ?? 0, clientId: key.name };
  const deployments = new Deployments({ db: tenant.db });
  return {
    key,
    launchFrom: (id: string) => recordRequest(tenant.db, at, id),
    decide: (id: string, status: 'admitted' | 'refused') => deployments.decide(tool?.uuid ?? '', { deployment_id: id, status }),
    deployed: async () =>
      (
        await tenant.db.query<{ id: string }>('SELECT deployment_id AS id FROM lti_deployments WHERE tool_id = $1 ORDER BY 1', [
          at.toolId,
        ])
      ).map(({ id }) => id),
    /** Once the status says so. */
    shown: (waiting: object | undefined, admitted: object | undefined) =>
      waitFor(`the status to show ${JSON.stringify({ waiting, admitted })}`, async () => {
        const { waitingDeployments, admittedDeployments } = (await cluster.registrations.get(key)).status ?? {};
        return JSON.stringify([waitingDeployments, admittedDeployments]) === JSON.stringify([waiting, admitted]);
      }),
  };
}

const NONE = { count: 0, ids: [] };
const some = (...ids: string[]) => ({ count: ids.length, ids });
const eventsOf = async (name: string): Promise<string[]> =>
  (await cluster.of(children.EVENT).list({ namespace }))
    .filter(
      ({ reason, regarding }) => ['DeploymentWaiting', 'UnknownDeployment'].includes(reason ?? '') && regarding?.name === name,
    )
    .map(({ reason, note }) => `${reason} ${note}`);

test('the status shows waiting and admitted deployments, an Event names those that wait, and the spec stays', async () => {
  const { key, launchFrom, decide, deployed, shown } = await newRegistration({ deploymentIds: ['1'] });
  await shown(NONE, NONE);

  await launchFrom('campus 7');
  await shown(some('campus 7'), NONE);
  await decide('campus 7', 'admitted');
  await shown(NONE, some('campus 7'));
  const admitted = await deployed();
  await decide('campus 7', 'refused');
  await shown(NONE, NONE);
  const events = await waitFor('the Event', async () => {
    const found = await eventsOf(key.name);
    return found.length > 0 ? found : undefined;
  });

  expect(admitted).toEqual(['1', 'campus 7']);
  expect(await deployed()).toEqual(['1']);
  expect(events).toEqual([
    'DeploymentWaiting an administrator has to admit a deployment that launched, by REST or by adding to ' +
      'spec.deploymentIds: "campus 7"',
  ]);
  expect((await cluster.registrations.get(key)).spec.deploymentIds).toEqual(['1']);
});

test('waiting and decided deployments are shown long before the next poll, since the operator is notified of each', async () => {
  const { launchFrom, decide, shown } = await newRegistration();
  const took: number[] = [];
  const measured = async (change: Promise<unknown>, waiting: object, admitted: object): Promise<void> => {
    const started = performance.now();
    await change;
    await shown(waiting, admitted);
    took.push(performance.now() - started);
  };
  await measured(launchFrom('campus 7'), some('campus 7'), NONE);
  await measured(decide('campus 7', 'admitted'), NONE, some('campus 7'));
  await measured(decide('campus 7', 'refused'), NONE, NONE);

  process.stderr.write(`  shown after ${took.map((ms) => ms.toFixed(0)).join(', ')} ms\n`);
  // With polls alone the second and the third would take one each.
  expect(took.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(POLL_MS);
});

test('a waiting deployment that somebody lists may launch, and waits no more', async () => {
  const { key, launchFrom, deployed, shown } = await newRegistration();
  await launchFrom('campus 7');
  await shown(some('campus 7'), NONE);
  await launchFrom('campus 8');

  await cluster.registrations.patch(key, { spec: { deploymentIds: ['campus 7'] } });
  await shown(some('campus 8'), NONE);

  expect(await deployed()).toEqual(['campus 7']);
});

test('with Listed only listed deployments count; back at Confirm, admitted ones may launch again', async () => {
  const { key, launchFrom, decide, deployed, shown } = await newRegistration({ deploymentIds: ['1'] });
  await launchFrom('campus 7');
  await decide('campus 8', 'admitted');
  await shown(some('campus 7'), some('campus 8'));

  await cluster.registrations.patch(key, { spec: { deploymentPolicy: 'Listed' } });
  await shown(undefined, undefined);
  const listed = await deployed();
  await cluster.registrations.patch(key, { spec: { deploymentPolicy: 'Confirm' } });
  await shown(some('campus 7'), some('campus 8'));

  expect(listed).toEqual(['1']);
  expect(await deployed()).toEqual(['1', 'campus 8']);
});

test('the status counts all that wait, and names ten of them', async () => {
  const { key, launchFrom } = await newRegistration();
  for (const at of range(12)) await launchFrom(`campus ${at}`);

  const shown = await waitFor('the status to count 12', async () => {
    const waiting = (await cluster.registrations.get(key)).status?.waitingDeployments;
    return waiting?.count === 12 ? waiting : undefined;
  });

  expect(new Set(shown.ids).size).toBe(10);
});
