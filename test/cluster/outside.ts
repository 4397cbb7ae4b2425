import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { Api } from '../support/clients/api.ts';
import { tenantObject, uniqueName, waitReady } from '../support/programs/demo-tenant.ts';
import { apply, kubectl, kubectlOk, type Platform, secretValues } from '../support/programs/platform.ts';
import { waitFor } from '../support/wait.ts';

const FORWARDING = /^Forwarding from (127\.0\.0\.1:\d+) /;
const FORWARD_MS = 30_000;

/**
 * Does what a person can do with kubectl alone on any cluster with Carrel: creates a Tenant under restricted pod security,
 * signs in, uploads, downloads, and deletes the Tenant with its data. Leaves nothing behind.
 */
export async function worksFromOutside(where: Platform): Promise<void> {
  const [namespace, name] = [uniqueName('outside'), uniqueName('t')];
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await apply(
    where,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
    tenantObject(namespace, name, { deletionPolicy: 'Delete' }),
  );
  try {
    await waitReady(where, namespace, `tenant/${name}`, 180);
    const forward = await forwardTo(where, namespace, name);
    try {
      await filesGoBothWays(where, namespace, name, `http://${forward.address}/api/v1`);
    } finally {
      forward.end();
    }
    await kubectlOk(where, ['delete', 'tenant', name, '-n', namespace, '--timeout=120s']);
    await waitFor('the end of its Secrets', async () => {
      const { stdout } = await kubectl(where, ['get', 'secrets', '-n', namespace, '-o', 'name']);
      return !stdout.includes(`/${name}-`);
    });
  } finally {
    await kubectl(where, ['delete', 'namespace', namespace, '--wait=false']);
  }
}

async function filesGoBothWays(where: Platform, namespace: string, name: string, url: string): Promise<void> {
  const { email = '', password = '' } = await secretValues(where, namespace, `${name}-admin`);
  const admin = await new Api(url).login(email, password);
  const content = Buffer.from('as a person does it');
  const uploaded = await admin.upload('/files', { file: content, name: 'first.txt' });
  assert.equal(uploaded.status, 201);
  const downloaded = await admin.get(`/files/${uploaded.body.id}/download`);
  assert.equal(downloaded.status, 200);
  assert.ok(downloaded.bytes.equals(content));
}

/** A local address that leads to the tenant's Service, through the API server. */
async function forwardTo(where: Platform, namespace: string, name: string): Promise<{ address: string; end(): void }> {
  const args = [
    '--kubeconfig',
    join(where.stateDirectory, 'kubeconfig'),
    'port-forward',
    '-n',
    namespace,
    `service/${name}`,
    ':80',
  ];
  const child = spawn(join(where.stateDirectory, 'bin/kubectl'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const late = setTimeout(() => child.kill(), FORWARD_MS);
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    const [, address] = FORWARDING.exec(line) ?? [];
    if (address === undefined) continue;
    clearTimeout(late);
    child.stdout.resume();
    return { address, end: () => child.kill() };
  }
  throw new Error(`kubectl port-forward did not say where it listens within ${FORWARD_MS / 1_000} s: ${said.join(' ')}`);
}
