import assert from 'node:assert/strict';
import { signIn, type TenantObject } from '../support/programs/demo-tenant.ts';
import { getJson, kubectl, kubectlOk, secretValues } from '../support/programs/platform.ts';
import { waitFor } from '../support/wait.ts';
import { podNames, serviceAddress, SPACE, TENANT } from './biology.ts';
import { carrelInOperator } from './in-system.ts';
import type { Installation } from './installation.ts';
import { type Load, startLoad } from './load.ts';

/** A second tag of `carrel:0.1.0`, so the upgrade finds the same content. */
const NEXT_TAG = '0.1.0-next';
/** The load lasts this long after the last pod is new. Connections to the old pods are closed in that time. */
const AFTER_MS = 5_000;

export async function upgradesUnderLoad(carrel: Installation): Promise<void> {
  const { platform, cluster } = carrel;
  const { admin, apiUrl } = await signIn(platform, SPACE, TENANT);
  const address = await serviceAddress(carrel);
  const before = await podNames(carrel);
  await cluster.tag('docker.io/library/carrel:0.1.0', `docker.io/library/carrel:${NEXT_TAG}`);
  const loads = [startLoad(admin, apiUrl), startLoad(admin, `http://${address}/api/v1`)];
  try {
    await carrel.upgrade({ image: { tag: NEXT_TAG } });
    await carrel.rolledOut();
    await waitFor('the tenant on the new image', async () => {
      const [image, ready] = (
        await kubectlOk(platform, [
          '-n',
          SPACE,
          'get',
          'deployment',
          TENANT,
          '-o',
          'jsonpath={.spec.template.spec.containers[0].image} {.status.readyReplicas}',
        ])
      ).split(' ');
      return image === `carrel:${NEXT_TAG}` && ready === '2';
    });
    await kubectlOk(platform, ['-n', SPACE, 'rollout', 'status', `deployment/${TENANT}`, '--timeout=90s']);
    await waitFor('the end of the pods before', async () => (await podNames(carrel)).every((name) => !before.includes(name)));
    await new Promise((resolve) => setTimeout(resolve, AFTER_MS));
  } finally {
    await Promise.all(loads.map((load) => load.stop()));
  }
  requireNoFailure(carrel, loads);
  assert.match(
    await carrelInOperator(carrel, 'rollout', 'status'),
    new RegExp(`^1 tenant\\n  done +1 +1 × carrel:${NEXT_TAG}\\n$`),
  );
}

function requireNoFailure({ say }: Installation, loads: readonly Load[]): void {
  const [byIngress, byService] = loads.map(({ outcomes }) => outcomes);
  say(`by Ingress ${JSON.stringify(byIngress)}, by Service ${JSON.stringify(byService)}`);
  for (const { outcomes } of loads) {
    assert.deepEqual(Object.keys(outcomes).toSorted(), ['GET 200', 'POST 201']);
    assert.ok((outcomes['GET 200'] ?? 0) > 100);
  }
}

/**
 * On one node: while it is drained the new pod finds no place, so the budget holds the other one back until pods may come again.
 */
export async function drainsUnderLoad(carrel: Installation): Promise<void> {
  const { platform } = carrel;
  const { admin, apiUrl } = await signIn(platform, SPACE, TENANT);
  const [node = ''] = (await kubectlOk(platform, ['get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}'])).split(' ');
  const { status } = await getJson<TenantObject & { status?: { selector?: string } }>(platform, 'tenant', TENANT, '-n', SPACE);
  const before = await podNames(carrel);
  const gone = async (): Promise<string[]> => {
    const now = await podNames(carrel);
    return before.filter((name) => !now.includes(name));
  };
  const loads = [startLoad(admin, apiUrl), startLoad(admin, `http://${await serviceAddress(carrel)}/api/v1`)];
  try {
    const args = [
      'drain',
      node,
      `--pod-selector=${status?.selector}`,
      '--ignore-daemonsets',
      '--delete-emptydir-data',
      '--timeout=120s',
    ];
    const draining = kubectl(platform, args);
    await waitFor('the end of one pod', async () => (await gone()).length === 1);
    const budget = ['-n', SPACE, 'get', 'poddisruptionbudget', TENANT, '-o', 'jsonpath={.status.disruptionsAllowed}'];
    assert.equal(await kubectlOk(platform, budget), '0');
    await new Promise((resolve) => setTimeout(resolve, AFTER_MS));
    assert.equal((await gone()).length, 1);
    await kubectlOk(platform, ['uncordon', node]);
    const { code, stderr } = await draining;
    assert.equal(code, 0, stderr);
    assert.equal((await gone()).length, 2);
    await kubectlOk(platform, ['-n', SPACE, 'rollout', 'status', `deployment/${TENANT}`, '--timeout=90s']);
  } finally {
    await kubectlOk(platform, ['uncordon', node]);
    await Promise.all(loads.map((load) => load.stop()));
  }
  requireNoFailure(carrel, loads);
}

/** Signing keys, the store's key and the data key wait for time, not for pods; the steps before are taken here. */
export async function credentialsRotate(carrel: Installation): Promise<void> {
  const { platform } = carrel;
  const { admin, apiUrl } = await signIn(platform, SPACE, TENANT);
  const before = await Promise.all(['database', 'redis'].map((of) => secretValues(platform, SPACE, `${TENANT}-${of}`)));
  const steps = async (): Promise<string> => {
    const path = 'jsonpath={range .status.credentials[*]}{.name}={.step} {end}';
    return (await kubectlOk(platform, ['-n', SPACE, 'get', 'tenant', TENANT, '-o', path])).trim();
  };
  const loads = [startLoad(admin, apiUrl), startLoad(admin, `http://${await serviceAddress(carrel)}/api/v1`)];
  try {
    assert.match(await carrelInOperator(carrel, 'keys', 'rotate', TENANT, '-n', SPACE), /the rotation of all has begun/);
    await waitFor(
      'the steps that wait for time',
      async () => (await steps()) === 'database= redis= storage=both signing=signs data=seals',
      240_000,
    );
    await kubectlOk(platform, ['-n', SPACE, 'rollout', 'status', `deployment/${TENANT}`, '--timeout=90s']);
    const uploaded = await admin.upload('/files', { file: Buffer.from('by the new key'), name: 'rotated.txt' });
    assert.equal(uploaded.status, 201);
    assert.equal((await admin.delete(`/files/${uploaded.body.id}?permanent=true`)).status, 204);
    await new Promise((resolve) => setTimeout(resolve, AFTER_MS));
  } finally {
    await Promise.all(loads.map((load) => load.stop()));
  }
  requireNoFailure(carrel, loads);
  const after = await Promise.all(['database', 'redis'].map((of) => secretValues(platform, SPACE, `${TENANT}-${of}`)));
  for (const [index, { url }] of before.entries()) assert.notEqual(after[index]?.url, url);
}
