import { expect, test } from '@jest/globals';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { migrateTenant, rollbackTenant } from '../../../pkg/store/postgres/provisioning.ts';
import { storeSuite } from '../../support/store-suite.ts';
import { newTenant } from '../../support/tenant.ts';

const { running, shard } = storeSuite();

test('of courses that were launched before 0010-lti-said the titles count as said', async () => {
  const tenant = await newTenant(running, shard);
  await rollbackTenant(shard, tenant, '0010-lti-said');
  const sql = new SqlPool({ url: tenant.url, poolSize: 1, log: silentLogger });
  await sql.query(
    `INSERT INTO lti_platforms (issuer, auth_endpoint, token_endpoint, jwks_endpoint) VALUES ('https://lms', 'a', 't', 'j')`,
  );
  for (const [subject, email] of [
    ['a', 'ada@example.org'],
    ['b', 'b@lti.invalid'],
  ]) {
    await sql.query(
      `WITH u AS (INSERT INTO users (uuid, email, username) VALUES (gen_random_uuid(), $2, $1) RETURNING id)
       INSERT INTO lti_identities (platform_id, subject, user_id) SELECT 1, $1, id FROM u`,
      [subject, email],
    );
  }
  await sql.query(
    `INSERT INTO groups (uuid, name, platform_id, context_id, created_by)
     SELECT gen_random_uuid(), 'Physics', 1, 'c', id FROM users WHERE is_system UNION ALL
     SELECT gen_random_uuid(), 'Friends', NULL, NULL, id FROM users WHERE is_system`,
  );

  await migrateTenant(shard, tenant);

  expect(await sql.query('SELECT name, title_said FROM groups ORDER BY id')).toEqual([
    { name: 'Physics', title_said: 'Physics' },
    { name: 'Friends', title_said: null },
  ]);
  await sql.close();
});

test('0013 moves addresses that came from an LMS to the contact, and marks whom the operator made', async () => {
  const tenant = await newTenant(running, shard);
  await rollbackTenant(shard, tenant, '0012-retention');
  const sql = new SqlPool({ url: tenant.url, poolSize: 1, log: silentLogger });
  await sql.query(
    `INSERT INTO lti_platforms (issuer, auth_endpoint, token_endpoint, jwks_endpoint) VALUES ('https://lms', 'a', 't', 'j')`,
  );
  const people: readonly {
    name: string;
    email?: string;
    hash?: string;
    roles?: string;
    display?: string;
    said?: string;
    given?: string;
  }[] = [
    { name: 'first', email: 'renamed@x', hash: 'h', roles: '{admin}' },
    { name: 'second', hash: 'h', roles: '{admin}', display: 'Administrator' },
    { name: 'colleague', hash: 'h', roles: '{admin}', display: 'Ada' },
    { name: 'namesake', hash: 'h', roles: '{member}', display: 'Administrator' },
    { name: 'before-0010', given: '' },
    { name: 'launched', said: 'launched@x', given: 'launched@x' },
    { name: 'none', email: 'n@lti.invalid', said: 'taken@x', given: 'n@lti.invalid' },
    { name: 'own', said: 'said@x', given: 'said@x' },
    { name: 'signs-in', hash: 'h', said: 'signs-in@x', given: 'signs-in@x' },
    {
      name: 'reinstated',
      hash: 'h',
      roles: '{member,admin}',
      display: 'Administrator',
      said: 'reinstated@x',
      given: 'reinstated@x',
    },
  ];
  for (const { name, email = `${name}@x`, hash = null, roles = '{member}', display = null, said = null, given } of people) {
    await sql.query(
      `WITH u AS (INSERT INTO users (uuid, email, username, password_hash, roles, display_name)
         VALUES (gen_random_uuid(), $2, $1, $3, $4::text[], $5) RETURNING id)
       INSERT INTO lti_identities (platform_id, subject, user_id, email_said, email_given)
       SELECT 1, $1, id, $6, nullif($7, '') FROM u WHERE $7::text IS NOT NULL`,
      [name, email, hash, roles, display, said, given ?? null],
    );
  }

  await migrateTenant(shard, tenant);

  const rows = await sql.query<{ username: string; email: string; contact: string; provisioned: string }>(
    `SELECT username, regexp_replace(email, '^[0-9a-f]{32}@lti.invalid$', 'none') AS email, contact_email AS contact, provisioned_as AS provisioned
     FROM users WHERE NOT is_system ORDER BY id`,
  );
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['first', 'renamed@x', null, 'renamed@x'],
    ['second', 'second@x', null, 'second@x'],
    ['colleague', 'colleague@x', null, null],
    ['namesake', 'namesake@x', null, null],
    ['before-0010', 'none', 'before-0010@x', null],
    ['launched', 'none', 'launched@x', null],
    ['none', 'n@lti.invalid', 'taken@x', null],
    ['own', 'own@x', 'said@x', null],
    ['signs-in', 'signs-in@x', 'signs-in@x', null],
    ['reinstated', 'reinstated@x', 'reinstated@x', null],
  ]);
  await sql.close();
});
