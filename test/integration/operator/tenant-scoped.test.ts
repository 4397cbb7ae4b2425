import { beforeAll, expect, test } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { isNotFound } from '../../../pkg/kube/errors.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { waitFor } from '../../support/wait.ts';
import {
  children,
  condition,
  conditionOf,
  ready,
  registrationOf,
  tenantOf,
  unique,
  webhookOf,
} from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { goneOf, hook, rowOf, sealerOf } from './managed-rows.ts';

const { cluster, namespace, readyTenant, databaseUrl } = operatorSuite();
let tenant: string;
let tenantId: string;
let sql: SqlPool;

beforeAll(async () => {
  const key = await readyTenant();
  tenant = key.name;
  tenantId = (await cluster.tenants.get(key)).status?.tenantId ?? '';
  sql = new SqlPool({ url: await databaseUrl(key), poolSize: 1, log: silentLogger });
  cluster.onClose(() => sql.close());
}, 180_000);

const platform = {
  issuer: 'https://lms.example',
  name: 'LMS',
  authEndpoint: 'https://lms.example/auth',
  tokenEndpoint: 'https://lms.example/token',
  jwksEndpoint: 'https://lms.example/jwks',
};

test('an LtiRegistration becomes tool, platform and deployments, and its status is what an LMS asks for', async () => {
  const key = { namespace, name: unique() };
  const spec = {
    tenantRef: { name: tenant },
    platform: { ...platform, issuer: `https://${key.name}.example` },
    clientId: key.name,
  };
  await cluster.registrations.create(registrationOf(namespace, key.name, { ...spec, deploymentIds: ['2', '1'] }));

  const registration = await ready(cluster.registrations, key);
  const tool = await rowOf(sql, 'lti_tools', `${namespace}/${key.name}`);
  const deployments = await sql.query('SELECT deployment_id FROM lti_deployments WHERE tool_id = $1 ORDER BY 1', [tool?.['id']]);

  expect(registration.status).toMatchObject({
    loginInitiationUrl: `http://lti.${tenant}.localhost:8080/login_initiation`,
    redirectUri: `http://lti.${tenant}.localhost:8080/launch`,
    launchUrl: `http://${tenant}.localhost:8080/lti/launch`,
    jwksUrl: `http://lti.${tenant}.localhost:8080/.well-known/jwks.json`,
    publicKeyIds: [tool?.['key_id']],
  });
  expect(tool).toMatchObject({
    client_id: key.name,
    consumer_key: key.name,
    tool_url: `http://${tenant}.localhost:8080`,
    scope: 'openid',
    deep_linking_response_mode: 'Query',
    is_active: true,
    managed_by: 'kubernetes',
  });
  expect(
    sealerOf(tenantId).open(String(tool?.['private_key']), [tenantId, 'lti_tools', `${namespace}/${key.name}`, 'private_key']),
  ).toContain('BEGIN PRIVATE KEY');
  expect(deployments).toEqual([{ deployment_id: '1' }, { deployment_id: '2' }]);
});

test('fields of a registration that this release ignores are named, and the name of the LMS is in the condition', async () => {
  const key = { namespace, name: unique() };
  const platform = { preset: 'moodle', issuer: `https://${key.name}.example`, name: 'Moodle of the faculty' };
  const fields = { consumerKey: 'old', deepLinkingResponseMode: 'Query' };
  await cluster.registrations.create(
    registrationOf(namespace, key.name, { tenantRef: { name: tenant }, platform, clientId: 'x', ...fields }),
  );

  const made = await ready(cluster.registrations, key);
  await cluster.registrations.patch(key, { spec: { consumerKey: null } } as object);
  const plain = await ready(cluster.registrations, key);

  expect(conditionOf(made, 'FieldsIgnored')).toMatchObject({
    status: 'True',
    reason: 'NotYetSupported',
    message: 'not supported yet and ignored: spec.consumerKey',
  });
  expect(conditionOf(made, 'Ready')?.message).toBe(`launches from Moodle of the faculty (${platform.issuer})`);
  expect(conditionOf(plain, 'FieldsIgnored')).toMatchObject({ status: 'False', reason: 'AllSupported' });
});

test('a change of a registration keeps its key; its own key replaces it; deleting it removes its rows', async () => {
  const key = { namespace, name: unique() };
  const reference = `${namespace}/${key.name}`;
  const spec = {
    tenantRef: { name: tenant },
    platform: { preset: 'moodle', issuer: `https://${key.name}.example/` },
    clientId: key.name,
  };
  await cluster.registrations.create(registrationOf(namespace, key.name, { ...spec, deploymentIds: ['1'] }));
  const made = await ready(cluster.registrations, key);

  await cluster.registrations.patch(key, { spec: { active: false, deploymentIds: ['3'] } });
  const changed = await ready(cluster.registrations, key);
  const tool = await rowOf(sql, 'lti_tools', reference);
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await cluster.of(children.SECRET).create({ metadata: { namespace, name: `${key.name}-key` }, stringData: { pem: privateKey } });
  await cluster.registrations.patch(key, { spec: { keySecretRef: { name: `${key.name}-key`, key: 'pem' } } });
  const own = await ready(cluster.registrations, key);
  await cluster.registrations.delete(key);
  await goneOf(cluster.registrations, key);

  expect(changed.status?.publicKeyIds).toEqual(made.status?.publicKeyIds);
  expect(tool).toMatchObject({ is_active: false, deep_linking_response_mode: 'FormPost' });
  expect(own.status?.publicKeyIds).not.toEqual(made.status?.publicKeyIds);
  expect(await rowOf(sql, 'lti_tools', reference)).toBeUndefined();
  expect(await sql.query('SELECT FROM lti_platforms WHERE issuer = $1', [spec.platform.issuer])).toEqual([]);
});

test('a key is followed by the next, which was published before it signs, and stays published after it', async () => {
  const key = { namespace, name: unique() };
  const reference = `${namespace}/${key.name}`;
  const spec = {
    tenantRef: { name: tenant },
    platform: { preset: 'moodle', issuer: `https://${key.name}.example/` },
    clientId: key.name,
  };
  await cluster.registrations.create(registrationOf(namespace, key.name, { ...spec, keyRotationPeriod: '1h' }));
  const [first] = (await ready(cluster.registrations, key)).status?.publicKeyIds ?? [];
  /** Puts the clock of the keys on, and has the operator look, until the ids that the status tells are as wanted. */
  const later = async (minutes: number, isWanted: (ids: string[]) => boolean): Promise<string[]> => {
    const by = `interval '${minutes} minutes'`;
    await sql.query(`UPDATE lti_tools SET key_since = key_since - ${by} WHERE managed_ref = $1`, [reference]);
    await sql.query(
      `UPDATE lti_tool_keys k SET published_at = published_at - ${by}, published_until = published_until - ${by}
       FROM lti_tools t WHERE t.id = k.tool_id AND t.managed_ref = $1`,
      [reference],
    );
    await cluster.registrations.patch(key, { metadata: { annotations: { later: `${minutes}` } } });
    return waitFor(`the keys of ${minutes} minutes later`, async () => {
      const ids = (await cluster.registrations.get(key)).status?.publicKeyIds ?? [];
      return isWanted(ids) && ids;
    });
  };

  const published = await later(31, (ids) => ids.length === 2);
  const signing = await later(30, ([signer]) => signer !== first);
  const tool = await rowOf(sql, 'lti_tools', reference);
  await sql.query('UPDATE lti_tool_keys SET published_until = now() WHERE key_id = $1', [first]);
  const alone = await later(1, (ids) => ids.length === 1);

  const next = published[1];
  expect([published[0], signing, alone, tool?.['key_id']]).toEqual([first, [next, first], [next], next]);
  expect(sealerOf(tenantId).open(String(tool?.['private_key']), [tenantId, 'lti_tools', reference, 'private_key'])).toContain(
    'BEGIN PRIVATE KEY',
  );
});

test('a key of one’s own that is exchanged signs at once, and the one before stays published', async () => {
  const key = { namespace, name: unique() };
  const secretKey = { namespace, name: unique() };
  const pem = (): string =>
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const spec = {
    tenantRef: { name: tenant },
    platform: { preset: 'moodle', issuer: `https://${key.name}.example/` },
    clientId: key.name,
  };
  await cluster.of(children.SECRET).create({ metadata: secretKey, stringData: { pem: pem() } });
  await cluster.registrations.create(
    registrationOf(namespace, key.name, { ...spec, keySecretRef: { name: secretKey.name, key: 'pem' } }),
  );
  const [first] = (await ready(cluster.registrations, key)).status?.publicKeyIds ?? [];

  await cluster.of(children.SECRET).patch(secretKey, { stringData: { pem: pem() } });
  const ids = await waitFor('the other key', async () => {
    const found = (await cluster.registrations.get(key)).status?.publicKeyIds ?? [];
    return found.length === 2 && found;
  });

  expect(ids[0]).not.toBe(first);
  expect(ids[1]).toBe(first);
});

test('the later of two contradictory registrations is refused until the earlier one goes', async () => {
  const issuer = `https://${unique()}.example`;
  const [first, second] = [
    { namespace, name: unique('a') },
    { namespace, name: unique('b') },
  ];
  const spec = { tenantRef: { name: tenant }, platform: { ...platform, issuer } };
  await cluster.registrations.create(registrationOf(namespace, first.name, { ...spec, clientId: first.name }));
  await ready(cluster.registrations, first);
  const other = {
    ...spec,
    clientId: second.name,
    platform: { ...spec.platform, tokenEndpoint: 'https://elsewhere.example/token' },
  };
  await cluster.registrations.create(registrationOf(namespace, second.name, other));

  const refused = await condition(cluster.registrations, second, 'Accepted', 'False', 'Conflict');
  await cluster.registrations.delete(first);
  const repaired = await ready(cluster.registrations, second);

  expect([refused, repaired].map((object) => conditionOf(object, 'Stalled')?.status)).toEqual(['True', 'False']);
  expect(conditionOf(refused, 'Accepted')?.message).toBe(
    `LtiRegistration ${first.name} is for the same LMS (same issuer and jwksEndpoint), but has another tokenEndpoint: ` +
      'use the same one in both, or give each the jwksEndpoint of its own LMS',
  );
});

test('two LMSs with one issuer and client id are ready side by side once each lists its deployments', async () => {
  const issuer = `https://${unique()}.example`;
  const [first, second] = [
    { namespace, name: unique('a') },
    { namespace, name: unique('b') },
  ];
  const spec = { tenantRef: { name: tenant }, platform: { ...platform, issuer }, clientId: unique() };
  await cluster.registrations.create(registrationOf(namespace, first.name, { ...spec, deploymentIds: ['1'] }));
  await ready(cluster.registrations, first);
  const twin = { ...spec, platform: { ...spec.platform, jwksEndpoint: 'https://elsewhere.example/jwks' } };
  await cluster.registrations.create(registrationOf(namespace, second.name, twin));
  const untold = await condition(cluster.registrations, second, 'Accepted', 'False', 'Conflict');

  await cluster.registrations.patch(second, { spec: { deploymentIds: ['2'] } });
  await ready(cluster.registrations, second);

  expect(conditionOf(untold, 'Accepted')?.message).toBe(
    `LtiRegistration ${first.name}, of another LMS with this issuer, has clientId ${spec.clientId} too: ` +
      'only deployments tell their launches apart. List the deployments of each in its spec.deploymentIds',
  );
  expect(await sql.query('SELECT FROM lti_platforms WHERE issuer = $1', [issuer])).toHaveLength(2);
});

test('finalizers of Webhook and LtiRegistration are removed at once when their Tenant terminates', async () => {
  const name = unique();
  await cluster.tenants.create(tenantOf(namespace, name, { deletionPolicy: 'Delete' }));
  await cluster.webhooks.create(webhookOf(namespace, name, { ...hook, tenantRef: { name } }));
  await cluster.registrations.create(registrationOf(namespace, name, { tenantRef: { name }, platform, clientId: name }));
  await ready(cluster.webhooks, { namespace, name });
  await ready(cluster.registrations, { namespace, name });

  await cluster.tenants.delete({ namespace, name });
  await condition(cluster.webhooks, { namespace, name }, 'Ready', 'False').catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  await Promise.all([cluster.webhooks.delete({ namespace, name }), cluster.registrations.delete({ namespace, name })]);

  await Promise.all([
    goneOf(cluster.webhooks, { namespace, name }),
    goneOf(cluster.registrations, { namespace, name }),
    goneOf(cluster.tenants, { namespace, name }),
  ]);
});
