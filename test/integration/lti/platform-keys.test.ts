import { expect, test } from '@jest/globals';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { guardedClient } from '../../../pkg/net/client.ts';
import { parseAllowedRanges } from '../../../pkg/net/private-address.ts';
import { PlatformKeys } from '../../../pkg/lti/launch/platform-keys.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { ManualClock } from '../../support/clock.ts';
import { Browser, follow } from '../../support/lms/browser.ts';
import { FAULTS } from '../../../pkg/local/demo/lms/faults.ts';
import { FAMILIES } from '../../../pkg/local/demo/lms/keys.ts';
import { type KeySetManner, Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range } from '../../support/wait.ts';
import { registeredLms } from '../../support/lms/registration.ts';

const tenant = serverSuite();

test('a rotated key works at once, the former one while it is published', async () => {
  const { lms, clientId } = await registeredLms(tenant);
  const before = await follow(new Browser(), lms.open(clientId));

  lms.rotate();
  const after = await follow(new Browser(), lms.open(clientId));
  await lms.stop();

  expect([before.status, after.status, lms.keySetRequests]).toEqual([303, 303, 2]);
});

test.each(FAMILIES)('an id_token that is signed by %s launches, and with its signature changed does not', async (alg) => {
  const { lms, clientId } = await registeredLms(tenant);
  const changed = {
    signer: alg,
    token: (token: string) => token.slice(0, -6) + (token.endsWith('AAAAAA') ? 'BBBBBB' : 'AAAAAA'),
  };

  const page = await follow(new Browser(), lms.open(clientId, {}, { signer: alg }));
  const refused = await registeredLms(tenant, { lms }).then(({ clientId: other }) =>
    follow(new Browser(), lms.open(other, {}, changed)),
  );
  await lms.stop();

  expect([page.status, page.code, refused.code]).toEqual([303, undefined, 'signature_invalid']);
});

test('a key without alg and use is judged by what it is', async () => {
  const { lms, clientId } = await registeredLms(tenant);

  const page = await follow(new Browser(), lms.open(clientId, {}, { signer: 'bare' }));
  await lms.stop();

  expect([page.status, page.code]).toEqual([303, undefined]);
});

test.each([
  ['PS256', 'RS256'],
  ['RS384', 'PS384'],
  ['ES256', 'RS256'],
  ['ES256', 'ES384'],
  ['RS512', 'ES512'],
] as const)('a key for %s signs nothing as %s', async (signer, alg) => {
  const { lms, clientId } = await registeredLms(tenant);

  const page = await follow(new Browser(), lms.open(clientId, {}, { signer, header: (header) => void (header['alg'] = alg) }));
  await lms.stop();

  expect(page.code).toBe('key_unfit');
});

test('launches that come at once before the key set is known share one request', async () => {
  const { lms, clientId } = await registeredLms(tenant);

  const pages = await Promise.all(range(20).map(() => follow(new Browser(), lms.open(clientId))));
  await lms.stop();

  expect(countBy(pages, ({ status }) => status)).toEqual({ 303: 20 });
  expect(lms.keySetRequests).toBe(1);
});

test('an unknown key id causes one request a minute, the first at once', async () => {
  const lms = await Lms.start();
  const clock = new ManualClock();
  const client = guardedClient({ allow: parseAllowedRanges('127.0.0.0/8'), clock: systemClock, metrics: createMetrics('test') });
  const keys = new PlatformKeys({ client, clock });
  const ask = async () => {
    await Promise.allSettled(range(5).map((number) => keys.key(lms.jwksEndpoint, `unknown-${number}`, 'RS256')));
    return lms.keySetRequests;
  };

  const first = await ask();
  const again = await ask();
  await clock.advance(59_000);
  const soon = await ask();
  await clock.advance(1_000);
  const later = await ask();
  await Promise.all([client.close(), lms.stop()]);

  // The set that the first one fetched is as new as can be: only the next one asks again.
  expect([first, again, soon, later]).toEqual([1, 2, 2, 3]);
});

test('at most 200 key sets are cached; the least recently used one is dropped', async () => {
  const lms = await Lms.start();
  const client = guardedClient({ allow: parseAllowedRanges('127.0.0.0/8'), clock: systemClock, metrics: createMetrics('test') });
  const keys = new PlatformKeys({ client, clock: systemClock });
  const { kid } = ((await (await fetch(lms.jwksEndpoint)).json()) as { keys: { kid: string }[] }).keys[0] ?? { kid: '' };
  const asks = async (...platforms: number[]): Promise<number> => {
    const before = lms.keySetRequests;
    for (const platform of platforms) await keys.key(`${lms.jwksEndpoint}?platform=${platform}`, kid, 'RS256');
    return lms.keySetRequests - before;
  };

  const filled = await asks(...range(200));
  const counts = await asks(0, 200, 0);
  const gone = await asks(1);
  await Promise.all([client.close(), lms.stop()]);

  expect([filled, counts, gone]).toEqual([200, 1, 1]);
});

test('forged key ids do not lock a rotated key out for longer than the minute, nor known keys at all', async () => {
  const { lms, clientId } = await registeredLms(tenant);
  await follow(new Browser(), lms.open(clientId));
  const forged = await follow(new Browser(), lms.open(clientId, {}, FAULTS['a key that is not published']));
  const known = await follow(new Browser(), lms.open(clientId));
  await lms.stop();

  expect([forged.code, known.status, lms.keySetRequests]).toEqual(['key_unknown', 303, 2]);
});

test.each<[KeySetManner, number, string]>([
  ['down', 503, 'platform_keys_unreachable'],
  ['slow', 504, 'platform_keys_timeout'],
  ['huge', 502, 'platform_keys_invalid'],
  ['html', 502, 'platform_keys_invalid'],
  ['error', 502, 'platform_keys_invalid'],
  ['no keys', 502, 'platform_keys_invalid'],
])('a key set that is %s makes a %d %s, and launches go on once it is well', async (manner, status, code) => {
  const { lms, clientId } = await registeredLms(tenant);
  lms.keySetManner = manner;

  const refused = await follow(new Browser(), lms.open(clientId));
  lms.keySetManner = 'well';
  const accepted = await follow(new Browser(), lms.open(clientId));
  await lms.stop();

  expect([refused.status, refused.code, accepted.status]).toEqual([status, code, 303]);
});

test('an LMS inside, where nothing allows it, is not asked', async () => {
  const { lms, clientId } = await registeredLms(tenant);
  await tenant.restart({ CARREL_EGRESS_ALLOW: [] });

  const page = await follow(new Browser(), lms.open(clientId));
  await tenant.restart();
  await lms.stop();

  expect([page.status, page.code, lms.keySetRequests]).toEqual([503, 'platform_keys_unreachable', 0]);
});
