import { expect, test } from '@jest/globals';
import { Browser, follow, type PageShown } from '../../support/lms/browser.ts';
import { LTI } from '../../../pkg/local/demo/lms/claims.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { ownStores } from '../../support/suites/server-suite.ts';
import { startTenant } from '../../support/programs/server.ts';
import { range, untilServed } from '../../support/wait.ts';
import { registeredLms, type Registration } from '../../support/lms/registration.ts';

/** The operators of other tests handle what they find in the common ones. */
const running = ownStores();
const { tenant, at: lms } = lmsSuite({ stores: running });

const registration = (): Promise<Registration> => registeredLms(tenant, lms);
const launch = (by: Registration, deploymentId: string, fault: Fault = {}): Promise<PageShown> =>
  follow(
    new Browser(),
    by.lms.open(by.clientId, {}, { ...fault, claims: (claims) => void (claims[`${LTI}/deployment_id`] = deploymentId) }),
  );
const notedOf = (by: Registration) =>
  tenant.db.query<{ id: string; notedAt: Date }>(
    'SELECT deployment_id AS id, noted_at AS "notedAt" FROM carrel.unknown_deployments WHERE managed_ref = $1 ORDER BY slot',
    [`test/${by.clientId}`],
  );
const idsOf = async (by: Registration): Promise<string[]> => (await notedOf(by)).map(({ id }) => id);
/** Makes all noted deployments an hour older. */
const anHourPasses = (by: Registration) =>
  tenant.db.query(`UPDATE carrel.unknown_deployments SET noted_at = noted_at - interval '61 minutes' WHERE managed_ref = $1`, [
    `test/${by.clientId}`,
  ]);

test('an unknown deployment is noted once an hour, for one statement, and its launches leave nothing else', async () => {
  const by = await registration();

  const { reply: page, sql } = await tenant.counting(() => launch(by, 'campus 7'));
  const noted = await notedOf(by);
  const again = await launch(by, 'campus 7');
  const notedAgain = await notedOf(by);
  await anHourPasses(by);
  await launch(by, 'campus 7');
  const [later, ...others] = await notedOf(by);

  expect([page.status, page.code, again.code]).toEqual([403, 'unknown_deployment', 'unknown_deployment']);
  expect(page.text).toContain('Its id is campus 7');
  // Login initiation, the registration, the look-up, the note.
  expect(sql).toHaveLength(4);
  expect(noted.map(({ id }) => id)).toEqual(['campus 7']);
  expect(notedAgain).toEqual(noted);
  expect([later?.id, others]).toEqual(['campus 7', []]);
  expect(later?.notedAt.getTime()).toBeGreaterThanOrEqual(noted[0]?.notedAt.getTime() ?? Infinity);
  expect(await tenant.db.tables.ltiLaunches.count({ toolId: by.toolId })).toBe(0);
  expect(await tenant.db.tables.ltiIdentities.count({})).toBe(0);
  expect(await tenant.db.query('SELECT FROM sessions WHERE launch_id IS NOT NULL')).toEqual([]);
});

test.each<[string, Fault, string]>([
  ['a signature that does not hold', { token: (token) => token.slice(0, -8) }, 'signature_invalid'],
  ['a key of another', { signer: 'impostor' }, 'signature_invalid'],
  ['a state of another browser', { form: (fields) => fields.set('state', 'A'.repeat(43)) }, 'state_not_bound'],
])('%s notes no deployment', async (_what, fault, code) => {
  const by = await registration();

  const page = await launch(by, 'forged', fault);

  expect([page.code, await idsOf(by)]).toEqual([code, []]);
});

test('claims that do not hold note no deployment', async () => {
  const by = await registration();
  const wrong = (change: (claims: Record<string, unknown>) => void): Promise<PageShown> =>
    follow(
      new Browser(),
      by.lms.open(by.clientId, {}, { claims: (claims) => (change(claims), void (claims[`${LTI}/deployment_id`] = 'wrong')) }),
    );

  const pages = [await wrong((claims) => void (claims['nonce'] = 'other')), await wrong((claims) => void (claims['exp'] = 1))];

  expect(pages.map(({ code }) => code)).toEqual(['nonce_mismatch', 'id_token_expired']);
  expect(await idsOf(by)).toEqual([]);
});

test('60 racing launches of 60 unknown deployments leave at most 20 rows; one after an hour replaces the oldest', async () => {
  const by = await registration();
  for (const at of range(12)) await launch(by, `first-${at}`);

  const pages = await Promise.all(range(60).map((at) => untilServed(() => launch(by, `racing-${at}`))));
  for (const at of range(30)) await launch(by, `more-${at}`);
  const full = await idsOf(by);
  await anHourPasses(by);
  await launch(by, 'newcomer');

  expect(new Set(pages.map(({ code }) => code))).toEqual(new Set(['unknown_deployment']));
  expect(full).toHaveLength(20);
  expect(new Set(full).size).toBe(20);
  expect(full.slice(0, 12)).toEqual(range(12).map((at) => `first-${at}`));
  expect(await idsOf(by)).toEqual(['newcomer', ...full.slice(1)]);
});

test('a registration that no Kubernetes resource manages notes nothing', async () => {
  const by = await registration();
  await tenant.db.tables.ltiTools.update({ id: by.toolId }, { managedBy: null, managedRef: null });

  const page = await launch(by, 'unmanaged');

  expect(page.code).toBe('unknown_deployment');
  expect(await tenant.db.query(`SELECT FROM carrel.unknown_deployments WHERE deployment_id = 'unmanaged'`)).toEqual([]);
});

test('a tenant sees its own notes only, and can neither write another’s nor mark one as reported', async () => {
  const by = await registration();
  await launch(by, 'mine');
  const [role] = await tenant.db.query<{ name: string }>('SELECT current_user AS name');
  const other = await startTenant();

  try {
    const seen = await other.db.query('SELECT FROM carrel.unknown_deployments');
    const write = (column: string, value: string) =>
      other.db.query(
        `INSERT INTO carrel.unknown_deployments (${column}, managed_ref, slot, deployment_id) VALUES (${value}, 'x/y', 0, 'z')`,
      );

    expect(seen).toEqual([]);
    await expect(write('tenant', `'${role?.name}'`)).rejects.toThrow(/permission denied/);
    await expect(write('reported_at', 'now()')).rejects.toThrow(/permission denied/);
    await expect(other.db.query('DELETE FROM carrel.unknown_deployments')).rejects.toThrow(/permission denied/);
  } finally {
    await other.stop();
  }
});
