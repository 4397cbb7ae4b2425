import { expect, test } from '@jest/globals';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import type { Helper } from '../../../pkg/helper-services/helper.ts';
import { helpersOf } from '../../../pkg/helper-services/helpers.sql.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { parseDataKeys, Sealer } from '../../../pkg/runtime/sealing.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { children, condition, conditionOf, ready, secretValues, tenantOf, unique } from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { waitFor } from '../../support/wait.ts';

const { cluster, namespace, readyTenant, databaseUrl } = operatorSuite();

/** The helpers as the tenant's own server reads them: by its role, with its keys. */
async function helpers(key: ObjectKey): Promise<Helper[]> {
  const sql = new SqlPool({ url: await databaseUrl(key), poolSize: 1, log: silentLogger });
  try {
    const { 'data.json': dataKeys = '' } = (await secretValues(cluster, namespace, `${key.name}-keys`)) ?? {};
    const tenantId = (await cluster.tenants.get(key)).status?.tenantId ?? '';
    const found = await helpersOf(sql, { tenantId, sealer: new Sealer(parseDataKeys(dataKeys), systemRandom) });
    return [...found.values()].toSorted((one, other) => (one.kind < other.kind ? -1 : 1));
  } finally {
    await sql.close();
  }
}

async function createSecret(values: Record<string, string>): Promise<ObjectKey> {
  const key = { namespace, name: unique() };
  await cluster.of(children.SECRET).create({ metadata: key, stringData: values });
  return key;
}

test('spec.helpers reaches the server with the Secret’s token, follows changes of both, and goes with the field', async () => {
  const secret = await createSecret({ token: 'first' });
  const spec = { translateUrl: 'https://translate.example.com/api', credentialsSecretRef: { name: secret.name } };
  const key = await readyTenant({ helpers: spec });
  const generation = async () => (await cluster.of(children.DEPLOYMENT).get(key)).metadata.generation;
  const before = await generation();
  expect(await helpers(key)).toEqual([{ kind: 'translate', url: 'https://translate.example.com/api', token: 'first' }]);
  expect(conditionOf(await cluster.tenants.get(key), 'HelpersReady')).toMatchObject({
    status: 'True',
    reason: 'HelpersReady',
    message: 'helper services: translate',
  });
  expect(conditionOf(await cluster.tenants.get(key), 'FieldsIgnored')).toMatchObject({ status: 'False' });

  await cluster.of(children.SECRET).patch(secret, { stringData: { token: 'second' } });
  await waitFor('the new token', async () => (await helpers(key))[0]?.token === 'second');

  const pdf = {
    pdfOptimizeUrl: 'https://pdf.example.com',
    pdfTranslateUrl: 'https://pdf.example.com',
    credentialsSecretRef: null,
  };
  await cluster.tenants.patch(key, { spec: { helpers: { translateUrl: null, ...pdf } } });
  await ready(cluster.tenants, key);
  expect(await helpers(key)).toEqual([
    { kind: 'pdf_optimize', url: 'https://pdf.example.com', token: null },
    { kind: 'pdf_translate', url: 'https://pdf.example.com', token: null },
  ]);

  await cluster.tenants.patch(key, { spec: { helpers: null } });
  await waitFor('the helpers to be gone', async () => (await helpers(key)).length === 0);
  expect(conditionOf(await ready(cluster.tenants, key), 'HelpersReady')).toMatchObject({
    status: 'True',
    reason: 'NotConfigured',
  });
  expect(await generation()).toBe(before);
});

test('a missing Secret or token of helpers is said in the condition; the tenant runs, and goes on when it comes', async () => {
  const key = { namespace, name: unique() };
  const secret = { namespace, name: unique() };
  const field = 'spec.helpers.credentialsSecretRef';
  const helpersSpec = { translateUrl: 'https://translate.example.com', credentialsSecretRef: { name: secret.name } };
  await cluster.tenants.create(tenantOf(namespace, key.name, { helpers: helpersSpec }));

  const missing = await condition(cluster.tenants, key, 'HelpersReady', 'False', 'SecretMissing');
  await condition(cluster.tenants, key, 'WorkloadAvailable', 'True');
  await cluster.of(children.SECRET).create({ metadata: secret, stringData: { password: 'x' } });
  const incomplete = await condition(cluster.tenants, key, 'HelpersReady', 'False', 'SecretIncomplete');
  await cluster.of(children.SECRET).patch(secret, { stringData: { token: 'two words' } });
  const invalid = await condition(cluster.tenants, key, 'HelpersReady', 'False', 'TokenInvalid');
  await cluster.of(children.SECRET).patch(secret, { stringData: { token: 'one-word' } });
  await ready(cluster.tenants, key);

  expect([missing, incomplete, invalid].map((tenant) => conditionOf(tenant, 'HelpersReady')?.message)).toEqual([
    `${field}: there is no Secret ${secret.name} in namespace ${namespace}`,
    `${field}: Secret ${secret.name} has no value for token`,
    `${field}: the value token of Secret ${secret.name} must be 1 to 4,096 visible ASCII characters, as a header takes them`,
  ]);
  expect(conditionOf(missing, 'Ready')).toMatchObject({ status: 'False', reason: 'SecretMissing' });
  expect((await helpers(key)).map(({ token }) => token)).toEqual(['one-word']);
});

test.each([
  'https://169.254.169.254/latest',
  'http://2852039166/',
  'http://0x0a000001/',
  'https://10.1.2.3:8443',
  'https://[fd00:ec2::254]/',
  'https://[::ffff:a9fe:a9fe]/',
  'https://[64:ff9b::a9fe:a9fe]/',
  'https://[::]/',
])('a helper at the private address %s is refused', async (url) => {
  const key = { namespace, name: unique() };
  await cluster.tenants.create(tenantOf(namespace, key.name, { helpers: { pdfOptimizeUrl: url } }));

  const refused = await condition(cluster.tenants, key, 'HelpersReady', 'False', 'AddressRefused');

  expect(conditionOf(refused, 'HelpersReady')?.message).toMatch(
    /^spec\.helpers\.pdfOptimizeUrl leads to a private address \(.+\), and CARREL_EGRESS_ALLOW/,
  );
  expect(await helpers(key)).toEqual([]);
});
