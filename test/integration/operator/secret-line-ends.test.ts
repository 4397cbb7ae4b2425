import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { Passwords } from '../../../pkg/accounts/passwords.ts';
import { openToken } from '../../../pkg/helper-services/token-seal.ts';
import { givenToolKey } from '../../../pkg/lti/registrations/tool-key.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { parseDataKeys, Sealer } from '../../../pkg/runtime/sealing.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { StorageAdmin } from '../../../pkg/store/s3/admin.ts';
import { WebhookSeal } from '../../../pkg/webhooks/sealing.ts';
import { ROOT, testBackends } from '../../support/backends/backends.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { children, ready, registrationOf, secretValues, unique, webhookOf } from '../../support/cluster/operator.ts';
import { waitFor } from '../../support/wait.ts';

const { cluster, namespace, readyTenant } = operatorSuite();
const { SECRET, EVENT } = children;

const LINE_ENDS = { LF: '\n', CRLF: '\r\n' };
/** Returns the values, each with a line end of another kind behind it. */
const written = (values: Record<string, string>, end: string): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, `${value}${end}`]));

async function rows<T extends object>(tenant: string, query: string, values: unknown[] = []): Promise<T[]> {
  const { url = '' } = (await secretValues(cluster, namespace, `${tenant}-database`)) ?? {};
  const sql = new SqlPool({ url, poolSize: 1, log: silentLogger });
  try {
    return await sql.query<T>(query, values);
  } finally {
    await sql.close();
  }
}

/** Notes of the Events that say that line ends of this Secret are left out. */
async function lineEndEvents(secret: string): Promise<string[]> {
  const events = await cluster.of(EVENT).list({ namespace });
  return events
    .filter(({ reason, note }) => reason === 'LineEndIgnored' && note?.includes(`Secret ${secret} `))
    .map(({ note = '' }) => note);
}

const eventOf = (field: string, secret: string, keys: string): string =>
  `${field}: Secret ${secret} has a line end at the end of ${keys}; it is not part of the value`;

async function createSecret(values: Record<string, string>): Promise<string> {
  const name = unique();
  await cluster.of(SECRET).create({ metadata: { namespace, name }, stringData: values });
  return name;
}

const createWebhook = async (tenant: string, secret: string): Promise<string> => {
  const key = { namespace, name: unique() };
  const spec = {
    tenantRef: { name: tenant },
    url: 'https://example.com/',
    events: ['file.created'],
    secretRef: { name: secret, key: 'token' },
  };
  await cluster.webhooks.create(webhookOf(namespace, key.name, spec));
  return (await ready(cluster.webhooks, key)).status?.endpointId ?? '';
};

/** Returns the secret that signs the deliveries of an endpoint. */
async function signingSecret(tenant: string, endpoint: string): Promise<string> {
  const keys = parseDataKeys((await secretValues(cluster, namespace, `${tenant}-keys`))?.['data.json'] ?? '');
  const tenantId = (await cluster.tenants.get({ namespace, name: tenant })).status?.tenantId ?? '';
  const [row] = await rows<{ secret: string }>(tenant, 'SELECT secret FROM webhooks WHERE uuid = $1', [endpoint]);
  return new WebhookSeal({ sealer: new Sealer(keys, systemRandom), tenantId }).open(endpoint, 'secret', row?.secret ?? '');
}

/** Each Secret that the operator reads for a person: field → what a value with this line end does. */
const READ: Record<string, (end: string) => Promise<void>> = {
  'tenants spec.admin.passwordSecretRef': async (end) => {
    const password = 'correct horse battery 1';
    const secret = await createSecret(written({ pw: password }, end));
    const { name } = await readyTenant({ admin: { passwordSecretRef: { name: secret, key: 'pw' } } });

    const [user] = await rows<{ hash: string }>(name, 'SELECT password_hash AS hash FROM users WHERE password_hash IS NOT NULL');
    expect(await new Passwords().verify(user?.hash ?? null, password)).toBe(true);
    await waitFor('the Event', async () => (await lineEndEvents(secret)).length > 0);
    expect(await lineEndEvents(secret)).toEqual([eventOf('spec.admin.passwordSecretRef', secret, 'pw')]);
  },
  'tenants spec.storage.credentialsSecretRef': async (end) => {
    const { s3 } = testBackends().stores;
    const bucket = unique('own');
    const key = { accessKeyId: unique('key'), secretAccessKey: unique('secret') };
    await new StorageAdmin(s3).ensureBucketWithUser({ bucket, ...key });
    const values = { ...key, endpoint: s3.endpoint, region: s3.region };
    const secret = await createSecret(written(values, end));
    const { name } = await readyTenant({ storage: { credentialsSecretRef: { name: secret }, bucket } });

    expect(await secretValues(cluster, namespace, `${name}-storage`)).toMatchObject({ ...values, bucket });
    await waitFor('the Event', async () => (await lineEndEvents(secret)).length > 0);
    const keys = 'accessKeyId, endpoint, region, secretAccessKey';
    expect(await lineEndEvents(secret)).toEqual([eventOf('spec.storage.credentialsSecretRef', secret, keys)]);
  },
  'tenants spec.helpers.credentialsSecretRef': async (end) => {
    const secret = await createSecret(written({ token: 'open-sesame' }, end));
    const { name } = await readyTenant({
      helpers: { translateUrl: 'https://example.com', credentialsSecretRef: { name: secret } },
    });
    const [row] = await rows<{ token: string }>(name, 'SELECT token FROM helpers');
    const tenantId = (await cluster.tenants.get({ namespace, name })).status?.tenantId ?? '';
    const { 'data.json': dataKeys = '' } = (await secretValues(cluster, namespace, `${name}-keys`)) ?? {};

    expect(
      openToken({ tenantId, sealer: new Sealer(parseDataKeys(dataKeys), systemRandom) }, 'translate', row?.token ?? ''),
    ).toBe('open-sesame');
    await waitFor('the Event', async () => (await lineEndEvents(secret)).length > 0);
    expect(await lineEndEvents(secret)).toEqual([eventOf('spec.helpers.credentialsSecretRef', secret, 'token')]);
  },
  'webhooks spec.secretRef': async (end) => {
    const { name } = await readyTenant();
    for (const value of ['plain words', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']) {
      const secret = await createSecret(written({ token: value }, end));

      expect(await signingSecret(name, await createWebhook(name, secret))).toBe(value);
      await waitFor('the Event', async () => (await lineEndEvents(secret)).length > 0);
      expect(await lineEndEvents(secret)).toEqual([eventOf('spec.secretRef', secret, 'token')]);
    }
  },
  'ltiregistrations spec.keySecretRef': async (end) => {
    const { name } = await readyTenant();
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const secret = await createSecret({ pem: privateKey.replaceAll('\n', end) });
    const platform = { preset: 'moodle', issuer: `https://${unique()}.example` };
    const spec = { tenantRef: { name }, platform, clientId: 'x', keySecretRef: { name: secret, key: 'pem' } };
    await cluster.registrations.create(registrationOf(namespace, name, spec));
    const { status } = await ready(cluster.registrations, { namespace, name });

    expect(status?.publicKeyIds).toEqual([(await givenToolKey(privateKey)).kid]);
    // A file of several lines ends with a line end as a rule.
    expect(await lineEndEvents(secret)).toEqual([]);
  },
};

/** Fields whose Secrets others read. */
const NOT_READ = ['tenants spec.exposure.tls.secretName', 'tenants spec.pod.imagePullSecrets'];

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
}

const secretFields = (schema: Schema, path: string): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    /secret/i.test(name) ? [`${path}.${name}`] : secretFields(inner.items ?? inner, `${path}.${name}`),
  );

test('every field of a resource that names a Secret is among those tried here', () => {
  const fields = readdirSync(join(ROOT, 'crds'))
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => {
      const { spec } = parse(readFileSync(join(ROOT, 'crds', file), 'utf8')) as {
        spec: { names: { plural: string }; versions: [{ schema: { openAPIV3Schema: { properties: { spec: Schema } } } }] };
      };
      return secretFields(spec.versions[0].schema.openAPIV3Schema.properties.spec, `${spec.names.plural} spec`);
    });

  expect(fields.toSorted()).toEqual([...Object.keys(READ), ...NOT_READ].toSorted());
});

const CASES = Object.keys(READ).flatMap((field) => Object.keys(LINE_ENDS).map((end) => [field, end] as const));

test.each(CASES)(
  'a value of the Secret of %s that ends with %s is the value without it, and an Event says so once',
  async (field, end) => {
    await READ[field]?.(LINE_ENDS[end as keyof typeof LINE_ENDS]);
  },
);

test('the generated password that a person edits with a line end signs in without it', async () => {
  const { name } = await readyTenant();
  const edited = { namespace, name: `${name}-admin` };
  await cluster.of(SECRET).patch(edited, { stringData: { password: 'correct horse battery 2\n' } });

  await waitFor('the password', async () => {
    const [user] = await rows<{ hash: string }>(name, 'SELECT password_hash AS hash FROM users WHERE password_hash IS NOT NULL');
    return new Passwords().verify(user?.hash ?? null, 'correct horse battery 2');
  });
  await waitFor(
    'the Secret',
    async () => (await secretValues(cluster, namespace, edited.name))?.['password'] === 'correct horse battery 2',
  );
});

test('no more than one line end is left out', async () => {
  const { name } = await readyTenant();
  const endpoint = await createWebhook(name, await createSecret({ token: 'two ends \n\n' }));

  expect(await signingSecret(name, endpoint)).toBe('two ends \n');
});
