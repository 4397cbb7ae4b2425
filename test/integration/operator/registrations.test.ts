import { beforeAll, expect, test } from '@jest/globals';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { condition, conditionOf, ready, registrationOf, secretValues, unique } from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

const { cluster, namespace, readyTenant } = operatorSuite();
let tenant: string;

beforeAll(async () => {
  tenant = (await readyTenant()).name;
}, 180_000);

async function toolOf(registration: string): Promise<Record<string, unknown> | undefined> {
  const { url = '' } = (await secretValues(cluster, namespace, `${tenant}-database`)) ?? {};
  const sql = new SqlPool({ url, poolSize: 1, log: silentLogger });
  try {
    return (
      await sql.query('SELECT client_id, consumer_key FROM lti_tools WHERE managed_ref = $1', [`${namespace}/${registration}`])
    )[0];
  } finally {
    await sql.close();
  }
}

const platform = {
  issuer: 'https://lms.example',
  authEndpoint: 'https://lms.example/auth',
  tokenEndpoint: 'https://lms.example/token',
  jwksEndpoint: 'https://lms.example/jwks',
};

test('a registration without a client id shows what to paste at the LMS, and goes on when the client id comes', async () => {
  const key = { namespace, name: unique() };
  const other = { namespace, name: unique() };
  const spec = { tenantRef: { name: tenant }, platform: { preset: 'moodle', issuer: `https://${key.name}.example` } };
  for (const { name } of [key, other]) await cluster.registrations.create(registrationOf(namespace, name, spec));

  const waiting = await condition(cluster.registrations, key, 'Accepted', 'False', 'ClientIdMissing');
  await condition(cluster.registrations, other, 'Accepted', 'False', 'ClientIdMissing');
  await cluster.registrations.patch(key, { spec: { clientId: key.name, deploymentIds: ['1'] } });
  const registration = await ready(cluster.registrations, key);

  expect(waiting.status).toMatchObject({
    loginInitiationUrl: `http://lti.${tenant}.localhost:8080/login_initiation`,
    redirectUri: `http://lti.${tenant}.localhost:8080/launch`,
    launchUrl: `http://${tenant}.localhost:8080/lti/launch`,
    jwksUrl: `http://lti.${tenant}.localhost:8080/.well-known/jwks.json`,
  });
  expect(conditionOf(waiting, 'Accepted')?.message).toBe(
    'paste the addresses of the status at the LMS, then set spec.clientId to the client id that it shows',
  );
  expect(conditionOf(waiting, 'Ready')).toMatchObject({ status: 'False', reason: 'ClientIdMissing' });
  expect(await toolOf(key.name)).toEqual({ client_id: key.name, consumer_key: key.name });
  expect(registration.status?.publicKeyIds).toHaveLength(1);
  await expect(cluster.registrations.patch(key, { spec: { clientId: null } })).rejects.toThrow(
    'clientId can be changed but not taken away',
  );
});

test.each([
  [
    'the key set',
    { jwksEndpoint: 'https://169.254.169.254/jwks' },
    'AddressRefused',
    'spec.platform.jwksEndpoint leads to a private address (169.254.169.254)',
  ],
  [
    'the token endpoint',
    { tokenEndpoint: 'https://10.0.0.5:8443/token' },
    'AddressRefused',
    'spec.platform.tokenEndpoint leads to a private address (10.0.0.5)',
  ],
  [
    'an address that nobody can dial',
    { jwksEndpoint: 'https://lms.example:99999/' },
    'AddressInvalid',
    'jwksEndpoint is not a valid address',
  ],
])('an LtiRegistration is refused for %s where no launch or grade could get there', async (_what, change, reason, message) => {
  const key = { namespace, name: unique() };
  const where = { ...platform, issuer: `https://${key.name}.example`, ...change };
  await cluster.registrations.create(
    registrationOf(namespace, key.name, { tenantRef: { name: tenant }, platform: where, clientId: key.name }),
  );

  const refused = await condition(cluster.registrations, key, 'Accepted', 'False', reason);

  expect(conditionOf(refused, 'Accepted')?.message).toContain(message);
});

test('an LMS by plain http on loopback, which this operator opens, is accepted', async () => {
  const key = { namespace, name: unique() };
  const issuer = `http://${key.name}.localhost:8080`;
  const local = {
    issuer,
    authEndpoint: `${issuer}/auth`,
    tokenEndpoint: `${issuer}/token`,
    jwksEndpoint: 'http://127.0.0.1:8080/jwks',
  };
  await cluster.registrations.create(
    registrationOf(namespace, key.name, { tenantRef: { name: tenant }, platform: local, clientId: key.name }),
  );

  await ready(cluster.registrations, key);
});
