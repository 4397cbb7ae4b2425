import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { launched } from '../../support/lms/launched.ts';

const { tenant, at } = lmsSuite();

test('later launches delete those of more than 90 days ago; one with grades stays, and so does a younger one', async () => {
  const [old, graded, young] = [await launched(tenant, at), await launched(tenant, at), await launched(tenant, at)];
  await graded.api.post(graded.grades, { user_id: 'ben', score: 8.5, score_maximum: 10 });
  const age = (launchId: string, days: number) =>
    tenant.db.query(`UPDATE lti_launches SET launched_at = now() - make_interval(days => $2) WHERE launch_id = $1`, [
      launchId,
      days,
    ]);
  await age(old.launchId, 91);
  await age(graded.launchId, 91);
  await age(young.launchId, 89);

  const all = async () => (await tenant.db.tables.ltiLaunches.list({})).map(({ launchId }) => launchId);

  await waitFor('the old launch to go', async () => {
    await launched(tenant, at);
    return !(await all()).includes(old.launchId);
  });

  expect(await all()).toEqual(expect.arrayContaining([graded.launchId, young.launchId]));
});

test('sessions that ended by themselves go with the sessions that come, and their refresh tokens with them', async () => {
  const [person, living] = [await tenant.user(), await tenant.user()];
  const over = `user_id = (SELECT id FROM users WHERE email = $1)`;
  const left = async () => (await tenant.db.query(`SELECT FROM sessions WHERE ${over}`, [person.user.email])).length;
  expect(await left()).toBe(1);
  await tenant.db.query(`UPDATE sessions SET expires_at = now() - interval '25 hours' WHERE ${over}`, [person.user.email]);

  // A session deletes old ones when its id begins like this, as one in sixteen does.
  await tenant.db.query(
    `INSERT INTO sessions (id, user_id, expires_at) SELECT $1, id, now() + interval '1 hour' FROM users WHERE email = $2`,
    [`0${randomUUID().slice(1)}`, living.user.email],
  );
  expect(await left()).toBe(0);

  expect((await tenant.anonymous.post('/auth/refresh', { refresh_token: person.api.refreshToken })).status).toBe(401);
  expect((await tenant.anonymous.post('/auth/refresh', { refresh_token: living.api.refreshToken })).status).toBe(200);
});

test('refresh tokens of a live session are deleted a day after they expired', async () => {
  const { user } = await tenant.user();
  let { refreshToken } = (await tenant.user()).api;
  const of = `session_id IN (SELECT id FROM sessions WHERE user_id = (SELECT id FROM users WHERE email = $1))`;
  await tenant.db.query(`UPDATE refresh_tokens SET expires_at = now() - interval '25 hours' WHERE ${of}`, [user.email]);
  const over = () => tenant.db.query(`SELECT FROM refresh_tokens WHERE expires_at < now() AND ${of}`, [user.email]);
  expect(await over()).toHaveLength(1);

  await waitFor('the token to go', async () => {
    refreshToken = (await tenant.anonymous.post('/auth/refresh', { refresh_token: refreshToken })).body.refresh_token;
    return (await over()).length === 0;
  });
});

test('an index finds expired rows: a launch does not pay for all others', async () => {
  const { user } = await tenant.user();
  const { toolId, platformId } = at;
  const { id } = (await tenant.db.tables.users.find({ email: user.email })) ?? { id: 0 };
  const session = `0${randomUUID().slice(1)}`;
  const inserts: [string, string, unknown[]][] = [
    ['sessions', `INSERT INTO sessions (id, user_id, expires_at) VALUES ($1, $2, now() + interval '1 hour')`, [session, id]],
    [
      'refresh_tokens',
      `INSERT INTO refresh_tokens (token_hash, session_id, expires_at) VALUES ('0', $1, now() + interval '1 hour')`,
      [session],
    ],
    [
      'lti_launches',
      `INSERT INTO lti_launches (launch_id, tool_id, platform_id) SELECT gen_random_uuid(), $1, $2 FROM generate_series(1, 16)`,
      [toolId, platformId],
    ],
  ];

  const wholeReads: number[] = [];
  await tenant.db.transaction(async (tx) => {
    // Counts what this connection has done since it last reported, which it does between transactions only.
    const readsOf = async (table: string): Promise<number> => {
      const of = 'schemaname = current_schema() AND relname = $1';
      const [row] = await tx.query<{ reads: number }>(`SELECT seq_scan AS reads FROM pg_stat_xact_user_tables WHERE ${of}`, [
        table,
      ]);
      return row?.reads ?? Number.NaN;
    };
    for (const [table, insert, values] of inserts) {
      const before = await readsOf(table);
      await tx.query(insert, values);
      wholeReads.push((await readsOf(table)) - before);
    }
  });

  expect(wholeReads).toEqual([0, 0, 0]);
});
