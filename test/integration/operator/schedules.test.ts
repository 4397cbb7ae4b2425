import { expect, test } from '@jest/globals';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { everyDay } from '../../support/data/crons.ts';
import { condition, conditionOf, ready, secretValues } from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { waitFor } from '../../support/wait.ts';

const suite = operatorSuite();

interface Row {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly cron: string;
  readonly zone: string;
  readonly active: boolean;
  readonly catchUp: boolean;
  readonly email: string | null;
  readonly armed: boolean;
  readonly revision: number;
}
const ROWS = `
  SELECT s.uuid AS id, s.name, s.kind, s.cron, s.time_zone AS zone, s.active, s.catch_up AS "catchUp",
    u.provisioned_as AS email, s.revision,
    EXISTS (SELECT FROM carrel.work w WHERE w.kind = 'schedules.tick' AND w.payload ->> 'schedule' = s.uuid::text
      AND w.due_at > now()) AS armed
  FROM schedules s LEFT JOIN users u ON u.id = s.saved_by WHERE s.managed_by = 'kubernetes' ORDER BY s.name`;

test('spec.schedules become managed rows that act as the resource’s administrator, follow it and leave with it', async () => {
  const { cluster, namespace } = suite;
  const nightly = { name: 'nightly', kind: 'recount_usage', cron: everyDay() };
  const given = { operation: 'delete', filter: { search: true, q: 'draft' } };
  const drafts = {
    name: 'drafts',
    kind: 'batch',
    cron: '0 0 1 1 *',
    timeZone: 'Europe/Berlin',
    arguments: given,
    active: false,
    catchUp: false,
  };
  const key = await suite.readyTenant({ schedules: [nightly, drafts] });
  const { url = '' } = (await secretValues(cluster, namespace, `${key.name}-database`)) ?? {};
  const { email = '' } = (await secretValues(cluster, namespace, `${key.name}-admin`)) ?? {};
  const sql = new SqlPool({ url, poolSize: 1, log: silentLogger });
  const rows = (): Promise<Row[]> => sql.query<Row>(ROWS);

  try {
    const [first, second] = await rows();
    const of = { id: expect.any(String), email, revision: 1 };
    expect([first, second]).toEqual([
      {
        ...of,
        name: 'drafts',
        kind: 'batch',
        cron: '0 0 1 1 *',
        zone: 'Europe/Berlin',
        active: false,
        catchUp: false,
        armed: false,
      },
      {
        ...of,
        name: 'nightly',
        kind: 'recount_usage',
        cron: nightly.cron,
        zone: 'UTC',
        active: true,
        catchUp: true,
        armed: true,
      },
    ]);
    const [settings] = await sql.query<{ settings: object }>("SELECT settings FROM schedules WHERE name = 'nightly'");
    expect(settings?.settings).toMatchObject({ trashRetentionMs: 30 * 86_400_000, versions: { keep: 50, days: null } });

    const later = nightly.cron.replace(/^0/, '30');
    await cluster.tenants.patch(key, { spec: { schedules: [{ ...nightly, cron: later }], versions: { keep: 7 } } });
    await waitFor('the change', async () => (await rows())[0]?.cron === later);
    expect((await rows()).map(({ id, name, revision }) => [id, name, revision])).toEqual([[second?.id, 'nightly', 2]]);
    const [after] = await sql.query<{ settings: object }>("SELECT settings FROM schedules WHERE name = 'nightly'");
    expect(after?.settings).toMatchObject({ versions: { keep: 7 } });

    await cluster.tenants.patch(key, { spec: { schedules: [{ ...nightly, cron: '0 0 30 2 *' }] } });
    const refused = await condition(cluster.tenants, key, 'Accepted', 'False', 'ScheduleInvalid');
    expect(conditionOf(refused, 'Accepted')?.message).toBe(
      'spec.schedules, nightly: cron: never matches: the given months do not have such a day',
    );
    expect((await rows())[0]?.cron).toBe(later);

    await cluster.tenants.patch(key, { spec: { schedules: null } });
    await ready(cluster.tenants, key);
    await waitFor('the row to go', async () => (await rows()).length === 0);
  } finally {
    await sql.close();
  }
});

test('archives beyond an entry’s keep expire: at once by a smaller keep, in 30 days after its removal', async () => {
  const { cluster } = suite;
  const entry = (keep: number) => ({
    name: 'papers',
    kind: 'export_folder',
    cron: '0 0 1 1 *',
    arguments: { folder_id: '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11', keep },
  });
  const key = await suite.readyTenant({ schedules: [entry(3)] });
  const sql = new SqlPool({ url: await suite.databaseUrl(key), poolSize: 1, log: silentLogger });
  /** Returns the days that each archive stays, the oldest first; null when it is kept. */
  const days = async () =>
    (
      await sql.query<{ days: number | null }>(
        `SELECT CASE WHEN expires_at < 'infinity' THEN round(extract(epoch FROM expires_at - now()) / 86400)::int END AS days
         FROM exports ORDER BY id`,
      )
    ).map(({ days: each }) => each);
  /** In how many days jobs that delete them are due. */
  const jobs = async () =>
    (
      await sql.query<{ days: number }>(
        `SELECT round(extract(epoch FROM due_at - now()) / 86400)::int AS days FROM carrel.work WHERE kind = 'exports.expire'
         ORDER BY due_at`,
      )
    ).map(({ days: each }) => each);

  try {
    await sql.query(
      `INSERT INTO exports (uuid, token, name, key, size, checksum, expires_at, schedule)
       SELECT gen_random_uuid(), repeat(n::text, 64), 'papers.zip', 'archives/' || n, 1, repeat('a', 64), 'infinity', s.uuid
       FROM schedules s, generate_series(1, 3) n ORDER BY n`,
    );
    await cluster.tenants.patch(key, { spec: { schedules: [entry(1)] } });
    await waitFor('older archives to expire', async () => (await days()).join() === '0,0,');
    expect(await jobs()).toEqual([0]);

    await cluster.tenants.patch(key, { spec: { schedules: null } });
    await waitFor('the last to have a time to expire', async () => (await days()).join() === '0,0,30');
    expect(await jobs()).toEqual([0, 30]);
  } finally {
    await sql.close();
  }
});
