import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createPublicKey } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { SCORE_SCOPE } from '../../../pkg/lti/grades/grades.schema.ts';
import { type ServiceClient, ServiceTokens } from '../../../pkg/lti/services/service-tokens.ts';
import { guardedClient } from '../../../pkg/net/client.ts';
import { parseAllowedRanges } from '../../../pkg/net/private-address.ts';
import { newToolKey, type ToolKey } from '../../../pkg/lti/registrations/tool-key.ts';
import type { Clock } from '../../../pkg/runtime/clock.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { ManualClock } from '../../support/clock.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { range, waitFor } from '../../support/wait.ts';

let lms: Lms;
let key: ToolKey;
let tool: ReturnType<typeof createServer>;
let clock: ManualClock;
let tokens: ServiceTokens;
/** Times the private key was opened. */
let opened: number;
const network = guardedClient({ allow: parseAllowedRanges('127.0.0.0/8'), clock: systemClock, metrics: createMetrics('test') });

beforeAll(async () => {
  lms = await Lms.start();
  key = await newToolKey();
  const jwk = { ...createPublicKey(key.publicKey).export({ format: 'jwk' }), kid: key.kid, alg: 'RS256', use: 'sig' };
  tool = createServer((_request, response) => response.end(JSON.stringify({ keys: [jwk] })));
  await new Promise<void>((resolve) => tool.listen(0, '127.0.0.1', resolve));
  const home = `http://127.0.0.1:${(tool.address() as AddressInfo).port}`;
  const addresses = { loginInitiationUrl: home, targetLinkUri: home, redirectUris: [], jwksUrl: home };
  lms.register({ clientId: 'tool', deploymentId: '1', ...addresses });
});
beforeEach(() => {
  clock = new ManualClock();
  opened = 0;
  lms.tokens.manner.set('well');
  // The platform compares the assertion with the time of day; how long a token is kept is measured by ours.
  const mixed: Clock = {
    now: () => new Date(),
    monotonic: () => clock.monotonic(),
    sleep: systemClock.sleep,
    schedule: systemClock.schedule,
  };
  tokens = new ServiceTokens({ client: network, clock: mixed, random: systemRandom });
});
afterAll(async () => {
  await network.close();
  await lms.stop();
  tool.closeAllConnections();
  tool.close();
});

const client = (more: Partial<ServiceClient> = {}): ServiceClient => ({
  tenant: 'one',
  clientId: 'tool',
  tokenEndpoint: lms.tokenEndpoint,
  tokenAudience: null,
  deploymentId: null,
  keyId: key.kid,
  privateKey: () => {
    opened += 1;
    return Promise.resolve(key.privateKey);
  },
  ...more,
});
const ask = (more: Partial<ServiceClient> = {}) => tokens.of(client(more), SCORE_SCOPE);
const asked = async (work: () => Promise<unknown>): Promise<number> => {
  const before = lms.tokens.requests;
  await work();
  return lms.tokens.requests - before;
};

test('concurrent requests of the same token share one request, and the key is opened once', async () => {
  expect(await asked(() => Promise.all(range(50).map(() => ask())))).toBe(1);
  expect(opened).toBe(1);
});

test('a token is cached until a minute before it expires', async () => {
  const first = await ask();
  await clock.advance(3_539_000);
  expect(await ask()).toBe(first);
  await clock.advance(2_000);
  expect(await ask()).not.toBe(first);
});

test.each([
  ['short-lived', 4_900, 1],
  ['short-lived', 5_100, 2],
  ['no expiry', 0, 2],
  ['absurd expiry', 0, 2],
] as const)('a token that is %s and is wanted again after %i ms takes %i requests', async (manner, ms, requests) => {
  lms.tokens.manner.set(manner);
  const work = async () => {
    await ask();
    await clock.advance(ms);
    await ask();
  };
  expect(await asked(work)).toBe(requests);
});

test('the assertion names the deployment that the token is for, and none where it is not known', async () => {
  lms.tokens.wantsDeployment = '1';
  try {
    await expect(ask({ deploymentId: '1' })).resolves.toEqual(expect.any(String));
    await expect(ask({ deploymentId: '2' })).rejects.toThrow(/names another deployment/);
    await expect(ask()).rejects.toThrow(/names another deployment/);
  } finally {
    lms.tokens.wantsDeployment = undefined;
  }
});

test('another tenant, scope, key, deployment, audience or end point has a token of its own', async () => {
  const lineItems = SCORE_SCOPE.replace(/score$/, 'lineitem');
  await ask();

  expect(await asked(() => ask({ tenant: 'two' }))).toBe(1);
  expect(await asked(() => tokens.of(client(), lineItems))).toBe(1);
  expect(await asked(() => ask({ tokenAudience: lms.tokenEndpoint }))).toBe(1);
  expect(await asked(() => ask({ tokenEndpoint: `${lms.tokenEndpoint}?again`, tokenAudience: lms.tokenEndpoint }))).toBe(1);
  expect(await asked(() => ask({ keyId: 'another' }).catch(() => undefined))).toBe(1);
  expect(await asked(() => ask({ deploymentId: '2' }))).toBe(1);
  expect(await asked(() => ask())).toBe(0);
});

test('a refused token is dropped, but not one that was requested since', async () => {
  const refused = await ask();
  tokens.drop(client(), SCORE_SCOPE, refused);
  const next = await ask();
  tokens.drop(client(), SCORE_SCOPE, refused);

  expect(next).not.toBe(refused);
  expect(await ask()).toBe(next);
});

test('a failure is not cached: the next call requests again', async () => {
  lms.tokens.manner.set('error');
  await expect(ask()).rejects.toThrow('the LMS gave no token: it answered 500 (oops)');
  lms.tokens.manner.set('well');
  expect(await asked(() => ask())).toBe(1);
});

test('at most 1,000 tokens are cached; the least recently used one is dropped', async () => {
  await ask({ tenant: 'kept' });
  await ask({ tenant: 'goes' });
  await ask({ tenant: 'kept' });
  for (const at of range(999)) await ask({ tenant: `t-${at}` });

  expect(await asked(() => ask({ tenant: 'kept' }))).toBe(0);
  expect(await asked(() => ask({ tenant: 'goes' }))).toBe(1);
});

test('the assertion is what the 1EdTech Security Framework asks for, and new each time', async () => {
  const sent: string[] = [];
  const spy = {
    ...network,
    request: (request: Parameters<typeof network.request>[0]) => (sent.push(String(request.body)), network.request(request)),
  };
  const watched = new ServiceTokens({ client: spy, clock: systemClock, random: systemRandom });
  await watched.of(client(), SCORE_SCOPE);
  await watched.of(client({ tenant: 'two' }), SCORE_SCOPE);

  const forms = sent.map((body) => new URLSearchParams(body));
  const assertions = forms.map((form) => form.get('client_assertion') ?? '');
  const claims = decodeJwt(assertions[0] ?? '');
  expect(Object.fromEntries(forms[0] ?? [])).toEqual({
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertions[0],
    scope: SCORE_SCOPE,
  });
  expect(decodeProtectedHeader(assertions[0] ?? '')).toEqual({ alg: 'RS256', typ: 'JWT', kid: key.kid });
  expect(claims).toMatchObject({ iss: 'tool', sub: 'tool', aud: lms.tokenEndpoint });
  // A minute for a clock of the LMS that is behind, four for one that is ahead; together the five minutes that platforms allow.
  const now = Date.now() / 1000;
  expect(Math.abs((claims.iat ?? 0) + 60 - now)).toBeLessThan(10);
  expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(300);
  expect(decodeJwt(assertions[1] ?? '').jti).not.toBe(claims.jti);
});

test('a token end point that does not answer is given up after 15 seconds', async () => {
  lms.tokens.manner.set('slow');
  const timed = new ManualClock();
  const slow = guardedClient({ allow: parseAllowedRanges('127.0.0.0/8'), clock: timed, metrics: createMetrics('test') });
  const asking = new ServiceTokens({ client: slow, clock: systemClock, random: systemRandom }).of(client(), SCORE_SCOPE);
  const outcome = asking.catch((error: Error) => error.message);
  const before = lms.tokens.requests;
  await waitFor('the request', () => lms.tokens.requests > before);

  await timed.advance(15_000);

  expect(await outcome).toMatch(/^the LMS gave no token: 127\.0\.0\.1 did not (finish|begin to reply)/);
});
