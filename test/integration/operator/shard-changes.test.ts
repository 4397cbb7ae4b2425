import { beforeAll, expect, test } from '@jest/globals';
import { noteUnknownDeployment } from '../../../pkg/lti/launch/unknown-deployments.sql.ts';
import { UnknownValues } from '../../../pkg/lti/login/unknown-values.ts';
import type { LtiRegistration } from '../../../pkg/operator/kinds.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { range, waitFor } from '../../support/wait.ts';
import { difference, writes } from '../../support/cluster/apiserver-metrics.ts';
import { children, ready, registrationOf, unique } from '../../support/cluster/operator.ts';
import { servedTenant } from './served-tenant.ts';

/** Stores of the test's own: an operator handles what all tenants of a shard left it. */
const { cluster, stores: running, namespace, tenant } = servedTenant(500);
let pool: SqlPool;

beforeAll(() => {
  pool = new SqlPool({ url: running.postgres.operator, poolSize: 1, log: silentLogger });
  cluster.onClose(() => pool.close());
});

async function newRegistration(spec: Partial<LtiRegistration['spec']> = {}) {
  const key = { namespace, name: unique() };
  const platform = { preset: 'moodle', issuer: `https://${key.name}.example` };
  await cluster.registrations.create(
    registrationOf(namespace, key.name, { tenantRef: { name: tenant.name }, platform, clientId: key.name, ...spec }),
  );
  await ready(cluster.registrations, key);
  const tool = await tenant.db.tables.ltiTools.find({ managedRef: `${namespace}/${key.name}` });
  return {
    key,
    reference: `${namespace}/${key.name}`,
    tool,
    launchFrom: (id: string) => noteUnknownDeployment(tenant.db.tables, tool?.id ?? 0, id),
  };
}

const rowsOf = (reference: string) =>
  pool.query<{ id: string; isReported: boolean }>(
    `SELECT deployment_id AS id, reported_at IS NOT NULL AS "isReported" FROM carrel.unknown_deployments WHERE managed_ref = $1
     ORDER BY slot`,
    [reference],
  );
const reportedOf = (reference: string) =>
  pool.query<{ at: string | null }>(
    `SELECT reported_at::text AS at FROM carrel.unknown_values WHERE managed_ref = $1
     UNION ALL SELECT reported_at::text FROM carrel.unknown_deployments WHERE managed_ref = $1 ORDER BY 1`,
    [reference],
  );
const toldOf = async (name: string): Promise<(string | undefined)[]> =>
  (await cluster.of(children.EVENT).list({ namespace }))
    .filter(({ reason, regarding }) => reason === 'UnknownDeployment' && regarding?.name === name)
    .map(({ type, note }) => `${type} ${note}`);
const eventNotes = (name: string, count: number) =>
  waitFor(`${count} Events of ${name}`, async () => {
    const notes = await toldOf(name);
    return notes.length >= count ? notes : undefined;
  });
const untilTold = (reference: string) =>
  waitFor('the notes to be read', async () => (await rowsOf(reference)).every(({ isReported }) => isReported));
const message = (id: string): string =>
  `Warning launches were refused: their deployment is not listed; to admit it, add to spec.deploymentIds: ${id}`;

test('an unknown deployment gives one Event that names it and the field, and at rest nothing is written', async () => {
  const { key, reference, launchFrom } = await newRegistration({ deploymentIds: ['1'] });

  await launchFrom('campus 7');
  const first = await eventNotes(key.name, 1);
  const before = {
    writes: await writes(cluster),
    rows: await pool.query('SELECT xmin::text, * FROM carrel.unknown_deployments'),
  };
  for (const _ of range(3)) await launchFrom('campus 7');
  // Whatever is reported after it was reported after everything that came before it.
  const other = await newRegistration();
  await other.launchFrom('8');
  await eventNotes(other.key.name, 1);

  expect(first).toEqual([message('"campus 7"')]);
  expect(await toldOf(key.name)).toEqual(first);
  expect(
    (await pool.query('SELECT xmin::text, * FROM carrel.unknown_deployments WHERE managed_ref = $1', [reference])).length,
  ).toBe(1);
  expect(await pool.query('SELECT xmin::text, * FROM carrel.unknown_deployments WHERE managed_ref = $1', [reference])).toEqual(
    before.rows.filter((row) => row['managed_ref'] === reference),
  );
  const { 'POST events': events, ...more } = difference(before.writes, await writes(cluster));
  // Both are of the other registration: that it is ready, and its deployment.
  expect([events, Object.keys(more).filter((call) => !call.includes('ltiregistrations'))]).toEqual([2, []]);
});

test('launches that continue after an hour give another Event', async () => {
  const { key, reference, launchFrom } = await newRegistration();
  await launchFrom('a');
  await eventNotes(key.name, 1);
  await untilTold(reference);

  await pool.query(
    `UPDATE carrel.unknown_deployments SET noted_at = noted_at - interval '2 hours',
       reported_at = reported_at - interval '2 hours' WHERE managed_ref = $1`,
    [reference],
  );
  await launchFrom('a');
  await waitFor('another Event', async () => {
    const rows = await pool.query('SELECT FROM carrel.unknown_deployments WHERE managed_ref = $1 AND reported_at >= noted_at', [
      reference,
    ]);
    return rows.length === 1;
  });

  expect(await rowsOf(reference)).toEqual([{ id: 'a', isReported: true }]);
});

test('an id of hostile characters is shown as a YAML string of printable ones', async () => {
  const { key, launchFrom } = await newRegistration();

  await launchFrom('a"\n\u202eb\u{e0001}\\');

  expect(await eventNotes(key.name, 1)).toEqual([message(String.raw`"a\"\n\u202eb\udb40\udc01\\"`)]);
});

test('a deployment’s note is deleted when it is listed, all notes when the registration is deleted', async () => {
  const { key, reference, launchFrom } = await newRegistration();
  await launchFrom('a');
  await launchFrom('b');
  await eventNotes(key.name, 2);

  await cluster.registrations.patch(key, { spec: { deploymentIds: ['a'] } });
  const left = await waitFor('the listed one to be deleted', async () => {
    const rows = await rowsOf(reference);
    return rows.length === 1 ? rows : undefined;
  });
  await launchFrom('c');
  await cluster.registrations.delete(key);
  await waitFor('the registration to be gone', async () => (await cluster.registrations.find(key)) === undefined);

  expect(left.map(({ id }) => id)).toEqual(['b']);
  expect(await rowsOf(reference)).toEqual([]);
});

test('a note that is 30 days old, listed, or not of a registration of its own is deleted without an Event', async () => {
  const { key, reference, launchFrom } = await newRegistration({ deploymentIds: ['listed'] });
  await launchFrom('old');
  await eventNotes(key.name, 1);
  await untilTold(reference);
  const role = (
    await pool.query<{ tenant: string }>('SELECT tenant FROM carrel.unknown_deployments WHERE managed_ref = $1', [reference])
  )[0]?.tenant;
  const insert = 'INSERT INTO carrel.unknown_deployments (tenant, managed_ref, slot, deployment_id) VALUES ($1, $2, $3, $4)';

  const longAgo = `now() - interval '31 days'`;
  await pool.query(
    `UPDATE carrel.unknown_deployments SET noted_at = ${longAgo}, reported_at = ${longAgo} WHERE managed_ref = $1`,
    [reference],
  );
  await pool.query(insert, [role, reference, 5, 'listed']);
  await pool.query(insert, [role, `${namespace}/nothing`, 0, 'x']);
  await pool.query(insert, ['tenant_other', reference, 0, 'foreign']);

  await waitFor(
    'them to be dropped',
    async () => (await rowsOf(reference)).length + (await rowsOf(`${namespace}/nothing`)).length === 0,
  );
  expect(await toldOf(key.name)).toEqual([message('"old"')]);
});

test('a tenant that tampers with its notes causes one Event an hour, and a flood suppresses no other’s Events', async () => {
  const { key, reference, tool, launchFrom } = await newRegistration();
  const values = new UnknownValues({ sql: tenant.db.tables, log: silentLogger });
  await launchFrom('a');
  await values.note(tool?.id ?? 0, 'client_id', 'b', 'signed');
  await eventNotes(key.name, 1);
  await untilTold(reference);
  const reported = await waitFor('the value to be reported', async () => {
    const rows = await reportedOf(reference);
    return rows.length === 2 && rows.every(({ at }) => at !== null) ? rows : undefined;
  });
  for (const time of ['infinity', '-infinity', '1970-01-01']) {
    // Postgres refuses what a migration forbids.
    await tenant.db.tables.query(`UPDATE carrel.unknown_values SET noted_at = '${time}'`).catch(() => undefined);
    await tenant.db.tables.query(`UPDATE carrel.unknown_deployments SET noted_at = '${time}'`).catch(() => undefined);
    const next = await newRegistration();
    await next.launchFrom('8');
    // Two more looks than the first that could have seen it.
    await eventNotes(next.key.name, 1);
  }
  const insert = `INSERT INTO carrel.unknown_deployments (tenant, managed_ref, slot, deployment_id) SELECT $1, n::text, 0, n
     FROM generate_series(1, $2) n`;
  // Twenty of a tenant go at each look, twice a second: the slower the machine, the more looks until the count.
  await pool.query(insert, ['tenant_a', 5_000]);
  const last = await newRegistration();
  await last.launchFrom('9');
  await eventNotes(last.key.name, 1);
  const [flood] = await pool.query<{ left: number }>(
    `SELECT count(*) AS left FROM carrel.unknown_deployments WHERE tenant = 'tenant_a'`,
  );
  await pool.query(`DELETE FROM carrel.unknown_deployments WHERE tenant = 'tenant_a'`);

  expect(await reportedOf(reference)).toEqual(reported);
  expect(await toldOf(key.name)).toEqual([message('"a"')]);
  expect(flood?.left).toBeGreaterThan(300);
});

test('a wrong issuer or client id, and a deployment that decides nothing, cause one Event each', async () => {
  const { key, reference, tool } = await newRegistration();
  const log = silentLogger;
  const values = new UnknownValues({ sql: tenant.db.tables, log });
  const eventsOf = async () =>
    (await cluster.of(children.EVENT).list({ namespace }))
      .filter(
        ({ reason, regarding }) =>
          ['UnknownIssuer', 'UnknownClientId', 'UndecidedDeployment'].includes(reason ?? '') && regarding?.name === key.name,
      )
      .map(({ type, reason, note }) => `${type} ${reason} ${note}`)
      .toSorted();
  const insert = 'INSERT INTO carrel.unknown_values (tenant, managed_ref, field, slot, value) VALUES ($1, $2, $3, $4, $5)';

  await pool.query(insert, ['tenant_other', reference, 'iss', 0, 'foreign']);
  await values.noteIssuer(`https://${key.name}.example/`);
  await values.note(tool?.id ?? 0, 'client_id', 'a"\n\u202eb', 'login');
  await values.note(tool?.id ?? 0, 'lti_deployment_id', '5:x', 'login');
  const events = await waitFor('three Events', async () => {
    const found = await eventsOf();
    return found.length >= 3 ? found : undefined;
  });
  await cluster.registrations.delete(key);
  await waitFor('the registration to be gone', async () => (await cluster.registrations.find(key)) === undefined);

  const end = 'They must be identical: correct one of them';
  expect(events).toEqual([
    'Warning UndecidedDeployment logins were refused: several registrations have this issuer and clientId, and not ' +
      'exactly one of them lists their deployment; keep it only in spec.deploymentIds of the right one: "5:x"',
    'Warning UnknownClientId launches were refused: the LMS sent as the client id (client_id, aud or azp) "a\\"\\n' +
      `\\u202eb"; spec.clientId is "${key.name}". ${end}`,
    `Warning UnknownIssuer launches were refused: the LMS sent as its issuer (iss) "https://${key.name}.example/"; ` +
      `spec.platform.issuer is "https://${key.name}.example". ${end}`,
  ]);
  expect(await pool.query('SELECT FROM carrel.unknown_values WHERE managed_ref = $1', [reference])).toEqual([]);
});

test('findings of an integrity check cause one Event of each kind an hour, and none without findings', async () => {
  const note = (kind: string, found: number, repaired: number): Promise<unknown> =>
    tenant.db.query(
      `INSERT INTO carrel.integrity_faults (kind, found, repaired) VALUES ($1, $2, $3)
       ON CONFLICT (tenant, kind) DO UPDATE SET found = excluded.found, repaired = excluded.repaired, noted_at = now()`,
      [kind, found, repaired],
    );
  const notes = async (): Promise<string[]> =>
    (await cluster.of(children.EVENT).list({ namespace }))
      .filter(({ reason, regarding }) => reason === 'IntegrityFault' && regarding?.name === tenant.name)
      .map(({ type, note: text }) => `${type} ${text}`)
      .toSorted();
  await note('wrong_size', 0, 0);
  await note('missing_object', 3, 0);
  await note('unowned_object', 2, 2);
  const two = await waitFor('two Events', async () => {
    const written = await notes();
    return written.length === 2 ? written : undefined;
  });
  await note('missing_object', 4, 0);
  // Noted first: once the hour is over, only the new findings are left to report.
  await note('unowned_object', 1, 1);
  await pool.query(
    `UPDATE carrel.integrity_faults SET reported_at = reported_at - interval '2 hours' WHERE kind = 'unowned_object'`,
  );
  const three = await waitFor('a third Event', async () => {
    const written = await notes();
    return written.length === 3 ? written : undefined;
  });

  expect(two).toEqual([
    expect.stringMatching(/^Warning the integrity check found: 2 objects belong to no version\. All were put right\.$/),
    expect.stringMatching(
      /^Warning .* found: 3 versions of files have no object in the store\. carrel doctor --tenant \S+ shows each\.$/,
    ),
  ]);
  expect(three[0]).toMatch(/found: 1 objects belong to no version/);
  await expect(tenant.db.query(`UPDATE carrel.integrity_faults SET reported_at = NULL`)).rejects.toThrow('permission denied');
  await expect(tenant.db.query(`DELETE FROM carrel.integrity_faults`)).rejects.toThrow('permission denied');
});
