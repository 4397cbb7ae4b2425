import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { WantedRegistration } from '../../../pkg/lti/registrations/wanted-registration.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import { children, ready, registrationOf, unique } from '../../support/cluster/operator.ts';
import { range, waitFor } from '../../support/wait.ts';
import { servedTenant } from './served-tenant.ts';

/** Nobody waits for it: the operator is notified. */
const POLL_MS = 20_000;
const { cluster, namespace, tenant, readyTenant, databaseUrl } = servedTenant(POLL_MS);

const wanted = (more: Partial<WantedRegistration> = {}): WantedRegistration => {
  const issuer = `https://${unique()}.example.org`;
  return {
    preset: 'moodle',
    issuer,
    name: 'Moodle of the university',
    authEndpoint: `${issuer}/auth`,
    tokenEndpoint: `${issuer}/token`,
    jwksEndpoint: `${issuer}/jwks`,
    tokenAudience: 'https://audience.example.org',
    clientId: unique('client'),
    deploymentId: '7',
    ...more,
  };
};

let slot = 0;
async function leave(body: unknown): Promise<string> {
  const id = randomUUID();
  await tenant.db.query('INSERT INTO carrel.registration_requests (slot, id, wanted) VALUES ($1, $2, $3)', [
    (slot += 1) % 20,
    id,
    JSON.stringify(body),
  ]);
  return id;
}
const handled = (id: string) =>
  waitFor('the operator to handle the request', async () => {
    const rows = await tenant.db.query('SELECT FROM carrel.registration_requests WHERE id = $1', [id]);
    return rows.length === 0;
  });
const keyOf = (id: string, preset = 'moodle') => ({ namespace, name: `${preset}-${id.replaceAll('-', '')}` });
const refusals = async (): Promise<string[]> =>
  (await cluster.of(children.EVENT).list({ namespace }))
    .filter(({ reason }) => reason === 'RegistrationRefused')
    .map(({ note }) => note ?? '');

test('an LMS’s registration becomes rows and an LtiRegistration that says its origin and the next steps', async () => {
  const body = wanted();
  const id = await leave(body);

  await handled(id);
  await ready(cluster.registrations, keyOf(id));
  const made = await cluster.registrations.get(keyOf(id));

  expect(made.metadata.annotations).toEqual({
    'carrel.dev/origin': `dynamic-registration/${id}`,
    'carrel.dev/next-step': expect.stringContaining('Activate it'),
  });
  expect(made.spec).toEqual({
    tenantRef: { name: tenant.name },
    platform: {
      preset: 'moodle',
      issuer: body.issuer,
      name: 'Moodle of the university',
      authEndpoint: body.authEndpoint,
      tokenEndpoint: body.tokenEndpoint,
      jwksEndpoint: body.jwksEndpoint,
      tokenAudience: 'https://audience.example.org',
    },
    clientId: body.clientId,
    deploymentIds: ['7'],
    deploymentPolicy: 'Listed',
    scope: 'openid',
    active: true,
  });
  expect(made.status?.publicKeyIds).toHaveLength(1);
  const [row] = await tenant.db.query<{ clientId: string }>(
    `SELECT t.client_id AS "clientId" FROM lti_tools t JOIN lti_deployments d ON d.tool_id = t.id
     WHERE t.managed_ref = $1 AND d.deployment_id = '7'`,
    [`${namespace}/${made.metadata.name}`],
  );
  expect(row?.clientId).toBe(body.clientId);
});

test('registrations are Ready long before the next poll, since the operator is notified of each', async () => {
  const took: number[] = [];
  for (const _ of range(3)) {
    const started = performance.now();
    await ready(cluster.registrations, keyOf(await leave(wanted())));
    took.push(performance.now() - started);
  }

  process.stderr.write(`  Ready after ${took.map((ms) => ms.toFixed(0)).join(', ')} ms\n`);
  // With polls alone the second and the third would take one each.
  expect(took.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(POLL_MS);
});

test('a registration of an LMS that did not name its deployment has its deployments admitted one by one', async () => {
  const id = await leave(wanted({ deploymentId: null }));

  await handled(id);
  const { spec } = await cluster.registrations.get(keyOf(id));

  expect([spec.deploymentPolicy, spec.deploymentIds]).toEqual(['Confirm', undefined]);
});

test('a registration that nothing asks for any more stays: the operator deletes none that it made', async () => {
  const id = await leave(wanted());
  await handled(id);
  await ready(cluster.registrations, keyOf(id));

  const other = { namespace, name: unique() };
  await cluster.registrations.create(
    registrationOf(namespace, other.name, {
      tenantRef: { name: tenant.name },
      platform: { preset: 'moodle', issuer: `https://${other.name}.example` },
      clientId: other.name,
    }),
  );
  await ready(cluster.registrations, other);
  await cluster.registrations.delete(other);
  await waitFor('the other registration to be gone', async () => (await cluster.registrations.find(other)) === undefined);

  expect((await cluster.registrations.get(keyOf(id))).metadata.deletionTimestamp).toBeUndefined();
  expect(await tenant.db.tables.ltiTools.find({ managedRef: `${namespace}/${keyOf(id).name}` })).toBeDefined();
});

test('a request that is read twice makes one resource, and a change of that resource stays', async () => {
  const body = wanted();
  const id = await leave(body);
  await handled(id);
  await ready(cluster.registrations, keyOf(id));
  await cluster.registrations.patch(keyOf(id), { spec: { deploymentIds: ['7', '8'] } }, { fieldManager: 'kubectl' });
  await tenant.db.query('INSERT INTO carrel.registration_requests (slot, id, wanted) VALUES (0, $1, $2)', [
    id,
    JSON.stringify(body),
  ]);

  await handled(id);

  expect((await cluster.registrations.get(keyOf(id))).spec.deploymentIds).toEqual(['7', '8']);
});

test('fields that a tenant’s server may not set are ignored: Secrets, other Tenants, the tool’s name and address', async () => {
  const id = await leave({
    ...wanted(),
    tenantRef: { name: 'other' },
    keySecretRef: { name: `${tenant.name}-keys`, key: 'signing' },
    toolUrl: 'https://evil.example.org',
    scope: 'everything',
    frameAncestors: ['https://evil.example.org'],
    metadata: { name: 'mine', namespace: 'kube-system' },
  });

  await handled(id);
  const { metadata, spec } = await cluster.registrations.get(keyOf(id));

  expect(Object.keys(spec).sort()).toEqual([
    'active',
    'clientId',
    'deploymentIds',
    'deploymentPolicy',
    'platform',
    'scope',
    'tenantRef',
  ]);
  expect([spec.tenantRef.name, spec.scope, spec.platform.frameAncestors, metadata.namespace]).toEqual([
    tenant.name,
    'openid',
    undefined,
    namespace,
  ]);
});

test('an address inside is refused by the resource, as that of anybody', async () => {
  const id = await leave(wanted({ tokenEndpoint: 'https://169.254.169.254/token' }));

  await handled(id);
  const refused = await waitFor('the registration to be refused', async () => {
    const { status } = await cluster.registrations.get(keyOf(id));
    return status?.conditions?.find(({ type, status: is }) => type === 'Accepted' && is === 'False');
  });

  expect(refused.reason).toBe('AddressRefused');
});

test.each([
  ['nothing of a registration', { hello: 'world' }, 'is no registration'],
  ['a list', [], 'is no registration'],
  ['an issuer that the schema refuses', wanted({ issuer: 'javascript:alert(1)' }), 'issuer'],
])('%s is a Warning at the Tenant, and gives no resource', async (_what, body, words) => {
  const id = await leave(body);

  await handled(id);
  await waitFor(`a Warning that says ${words}`, async () => (await refusals()).some((note) => note.includes(words)));

  expect(await cluster.registrations.find(keyOf(id))).toBeUndefined();
});

test('two LMSs that register at once are both Ready; the later of two with one client id conflicts', async () => {
  const [one, two] = [wanted(), wanted()];
  const both = await Promise.all([leave(one), leave(two)]);
  await Promise.all(both.map(handled));
  await Promise.all(both.map((id) => ready(cluster.registrations, keyOf(id))));
  const id = await leave(one);
  await handled(id);

  // Times of creation are whole seconds: of two in one second the later is the one whose name is.
  const same = await Promise.all([both[0] ?? '', id].map((made) => cluster.registrations.get(keyOf(made))));
  const ages = same.map(({ metadata }) => `${metadata.creationTimestamp} ${metadata.name}`);
  const later = String(ages.toSorted().at(-1)).split(' ').at(-1) ?? '';
  const refused = await waitFor('the conflict', async () => {
    const { status } = await cluster.registrations.get({ namespace, name: later });
    return status?.conditions?.find(({ type, status: is }) => type === 'Accepted' && is === 'False');
  });

  expect(refused.reason).toBe('Conflict');
});

test('a tenant has at most 100 registrations: what its server asks for beyond is refused', async () => {
  const key = await readyTenant();
  const own = new Database({ url: await databaseUrl(key), poolSize: 1, log: silentLogger });
  cluster.onClose(() => own.close());
  const spec = (index: number) => ({
    tenantRef: { name: key.name },
    platform: { preset: 'moodle', issuer: `https://lms-${index}.example` },
    active: false,
  });
  await Promise.all(
    range(100).map((index) => cluster.registrations.create(registrationOf(namespace, `${key.name}-${index}`, spec(index)))),
  );
  await waitFor('the operator to have seen them', async () =>
    (await cluster.registrations.list({ namespace }))
      .filter(({ metadata }) => metadata.name.startsWith(`${key.name}-`))
      .every(({ status, metadata }) => status?.observedGeneration === metadata.generation),
  );
  const id = randomUUID();
  await own.query('INSERT INTO carrel.registration_requests (slot, id, wanted) VALUES (0, $1, $2)', [
    id,
    JSON.stringify(wanted()),
  ]);

  await waitFor('the request to be refused', async () =>
    (await refusals()).some((note) => note.includes('has 100 registrations')),
  );

  expect(await cluster.registrations.find(keyOf(id))).toBeUndefined();
}, 180_000);
