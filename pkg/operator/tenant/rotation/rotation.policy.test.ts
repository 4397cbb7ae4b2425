import { expect, test } from '@jest/globals';
import { systemRandom } from '../../../runtime/random.ts';
import { CREDENTIALS } from '../../../store/postgres/registry.ts';
import { tenantWith } from '../../../../test/support/cluster/tenant-resources.ts';
import { isOld, requestedRotations, wishedFrom } from './rotation.policy.ts';
import { ROTATIONS, transitionFrom } from './rotation-stages.ts';

const asking = (text: string, spec = {}) => {
  const tenant = tenantWith(spec);
  return requestedRotations({ ...tenant, metadata: { ...tenant.metadata, annotations: { 'carrel.dev/rotate': text } } });
};

test.each<[string, string[], string[]]>([
  ['', [], []],
  ['redis', ['redis'], []],
  [' signing , database ', ['database', 'signing'], []],
  ['all', ['database', 'redis', 'storage', 'signing', 'data'], []],
  ['redis,password,Signing', ['redis'], ['password', 'Signing']],
  ['redis/2026-09-01', ['redis'], []],
  ['database, redis/the key that leaked', ['database', 'redis'], []],
  ['all/a/b', ['database', 'redis', 'storage', 'signing', 'data'], []],
  ['rediss/1', [], ['rediss']],
  [`redis/${'x'.repeat(200)}`, [], ['a value of more than 200 characters']],
])('the annotation %j asks for %j and does not know %j', (text, names, unknown) => {
  expect(asking(text)).toEqual({ text: text.trim(), names, unknown });
});

test('a key of storage that the tenant named is not the operator’s to rotate', () => {
  const storage = { defaultUserQuota: '10Gi', bucket: 'mine', credentialsSecretRef: { name: 'key' } };

  expect(asking('all', { storage }).names).not.toContain('storage');
  expect(asking('storage', { storage })).toMatchObject({ names: [], unknown: ['storage'] });
});

test.each<[string, string | undefined, number, string]>([
  ['a value for the first time', undefined, 0, 'now'],
  ['a mark that was followed', 'redis/1', 0, 'never'],
  ['a mark that was followed, a year ago', 'redis/1', 525_600, 'never'],
  ['another mark', 'redis/0', 0, 'now'],
])('with a mark, %s (%s, %d minutes ago) is followed %s', (_, request, minutes, when) => {
  const now = new Date('2026-09-01T12:00:00Z');
  const at = new Date(now.getTime() - minutes * 60_000);
  const from = wishedFrom('redis/1', request === undefined ? undefined : { request, at: at.toISOString() });

  expect(from === undefined ? 'never' : from <= now ? 'now' : 'later').toBe(when);
});

test.each([
  ['for the first time', undefined, 0, 0],
  ['after another value', 'database', 0, 0],
  ['again at once', 'redis', 0, 10],
  ['again after four minutes', 'redis', 4, 6],
  ['again after ten minutes', 'redis', 10, 0],
])('without a mark, a value is followed %s (%s, %d minutes ago) in %d minutes', (_, request, ago, minutes) => {
  const now = new Date('2026-09-01T12:00:00Z');
  const at = new Date(now.getTime() - ago * 60_000);
  const from = wishedFrom('redis', request === undefined ? undefined : { request, at: at.toISOString() });

  expect(Math.max(0, ((from?.getTime() ?? NaN) - now.getTime()) / 60_000)).toBe(minutes);
});

test('a credential is too old within the last tenth of rotateAfter, counted from its newest value, and never without it', () => {
  const tenant = tenantWith({ credentials: { rotateAfter: '10d' } });
  const since = '2026-01-01T00:00:00Z';
  const state = { changedAt: '2026-02-01T00:00:00Z', step: null, stepAt: since };
  const old = (day: string, credentials = {}) =>
    isOld(tenant, { since, credentials }, 'redis', new Date(`2026-${day}T00:00:00Z`));

  expect([old('01-09'), old('01-11'), old('02-09', { redis: state }), old('02-11', { redis: state })]).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect(isOld(tenantWith(), { since, credentials: {} }, 'redis', new Date('2099-01-01'))).toBe(false);
});

test.each(CREDENTIALS)('the rotation of %s goes from no step to no step, and makes one new value', (name) => {
  const taken = [];
  let from: string | null = null;
  do {
    const transition = transitionFrom(name, from);
    if (!transition || taken.length > 5) throw new Error(`no step follows ${from}`);
    taken.push(transition);
    from = transition.to;
  } while (from !== null);

  expect(taken).toEqual(ROTATIONS[name].transitions);
  expect(taken.filter(({ isNew }) => isNew)).toHaveLength(1);
});

test('no step leaves a pod of the step before without a valid password', async () => {
  const [announce, replace] = ROTATIONS.database.transitions;
  const [add, remove] = ROTATIONS.redis.transitions;
  const taken = async (transition: typeof announce | undefined, value: object) =>
    JSON.parse((await transition?.change?.(JSON.stringify(value), systemRandom)) ?? '') as Record<string, string>;

  const announced = await taken(announce, { password: 'a' });
  const both = await taken(add, { password: 'a' });

  expect(announced).toEqual({ password: 'a', next: expect.stringMatching(/^\S{32}$/) });
  expect(await taken(replace, announced)).toEqual({ password: announced['next'] });
  expect(both).toEqual({ password: expect.stringMatching(/^\S{32}$/), former: 'a' });
  expect(await taken(remove, both)).toEqual({ password: both['password'] });
});
