import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { UnknownValues } from '../../../pkg/lti/login/unknown-values.ts';
import { Browser, follow, type PageShown } from '../../support/lms/browser.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { ownStores, serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant } from '../../support/programs/server.ts';
import { range } from '../../support/wait.ts';
import { registeredLms, type Registration } from '../../support/lms/registration.ts';

/** Stores of the test's own: the operators of other tests read what they find in the common ones. */
const running = ownStores();
const tenant = serverSuite({ stores: running });

const launch = (by: Registration, fault: Fault): Promise<PageShown> => follow(new Browser(), by.lms.open(by.clientId, {}, fault));
const login = (by: Registration, parameters: Record<string, string>): Promise<PageShown> =>
  launch(by, { login: (sent) => Object.entries(parameters).forEach(([name, value]) => sent.set(name, value)) });
const notedOf = async (by: Registration): Promise<string[]> =>
  (
    await tenant.db.query<{ field: string; value: string }>(
      'SELECT field, value FROM carrel.unknown_values WHERE managed_ref = $1 ORDER BY field, slot',
      [`test/${by.clientId}`],
    )
  ).map(({ field, value }) => `${field} ${value}`);

/** A registration with an LMS of its own. */
async function withLms<T>(use: (by: Registration) => Promise<T>): Promise<T> {
  const by = await registeredLms(tenant);
  try {
    return await use(by);
  } finally {
    await by.lms.stop();
  }
}

test('a login by an issuer that is nearly a registered one is noted once an hour, for two statements more', () =>
  withLms(async (by) => {
    const { reply: page, sql } = await tenant.counting(() => login(by, { iss: `${by.lms.issuer}/` }));
    await login(by, { iss: `${by.lms.issuer}/` });
    await login(by, { iss: by.lms.issuer.replace('127.0.0.1', 'localhost') });

    expect([page.status, page.code, sql.length]).toEqual([403, 'issuer_unknown', 3]);
    expect(await notedOf(by)).toEqual([`iss ${by.lms.issuer}/`, `iss ${by.lms.issuer.replace('127.0.0.1', 'localhost')}`]);
  }));

test('the log shows what came and of which registration, once for each note', () =>
  withLms(async (by) => {
    const lines: Record<string, unknown>[] = [];
    const log = pino(
      { level: 'warn' },
      { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    );
    const unknown = new UnknownValues({ sql: tenant.db.tables, log });

    for (const _ of range(3)) await unknown.noteIssuer(`${by.lms.issuer}/`);
    await unknown.note(by.toolId, 'client_id', 'a\n\u202eb', 'login');

    const registration = `test/${by.clientId}`;
    expect(lines).toMatchObject([
      { registration, iss: `${by.lms.issuer}/` },
      { registration, client_id: 'a\uFFFD\uFFFDb' },
    ]);
  }));

test('a login by an issuer that is like none is noted nowhere', () =>
  withLms(async (by) => {
    const { reply: page, sql } = await tenant.counting(() => login(by, { iss: 'https://stranger.example.org' }));

    expect([page.code, sql.length]).toEqual(['issuer_unknown', 2]);
    expect(await tenant.db.query(`SELECT FROM carrel.unknown_values WHERE value LIKE '%stranger.example%'`)).toEqual([]);
  }));

test('a token issued to another party (azp) is refused with both values, and the other is recorded as a client id', () =>
  withLms(async (by) => {
    const page = await launch(by, { claims: (claims) => void (claims['azp'] = 'another-<id>') });

    expect([page.status, page.code]).toEqual([401, 'azp_mismatch']);
    expect(page.text).toContain(
      'The id_token was issued to another tool (azp). It names another-&lt;id&gt;; the registration&#39;s client id ' +
        `is ${by.clientId}.`,
    );
    expect(await notedOf(by)).toEqual(['client_id another-<id>']);
  }));

test('a login with another client id is noted', () =>
  withLms(async (by) => {
    const page = await login(by, { client_id: 'of another tool' });

    expect([page.code, await notedOf(by)]).toEqual(['client_id_unknown', ['client_id of another tool']]);
  }));

test.each<[string, Fault, string, string]>([
  [
    'issuer',
    { claims: (claims) => void (claims['iss'] = 'https://elsewhere.example.org') },
    'issuer_mismatch',
    'iss https://elsewhere.example.org',
  ],
  ['audience', { claims: (claims) => void (claims['aud'] = ['one', 'two']) }, 'audience_mismatch', 'client_id one two'],
])('a signed launch with another %s is noted; one that is not signed by the LMS is not', (_what, fault, code, noted) =>
  withLms(async (by) => {
    const forged = await launch(by, { ...fault, signer: 'impostor' });
    const before = await notedOf(by);
    const page = await launch(by, fault);

    expect([forged.code, before, page.code, await notedOf(by)]).toEqual(['signature_invalid', [], code, [noted]]);
  }),
);

test('ever new logins leave four values an hour, cut and without NUL; values that the LMS signs are noted besides', () =>
  withLms(async (by) => {
    await login(by, { client_id: `a\0b${'x'.repeat(300)}` });
    await Promise.all(range(20).map((at) => login(by, { client_id: `racing-${at}` })));
    for (const at of range(10)) await login(by, { client_id: `more-${at}` });
    const full = await notedOf(by);
    for (const at of range(10)) await launch(by, { claims: (claims) => void (claims['aud'] = `signed-${at}`) });
    const besides = await notedOf(by);
    await tenant.db.query(`UPDATE carrel.unknown_values SET noted_at = noted_at - interval '61 minutes' WHERE managed_ref = $1`, [
      `test/${by.clientId}`,
    ]);
    await login(by, { client_id: 'later' });

    expect(full).toHaveLength(4);
    expect(full[0]).toBe(`client_id ab${'x'.repeat(253)}`);
    expect(besides).toEqual(['client_id signed-0', ...full]);
    expect((await notedOf(by)).slice(0, 2)).toEqual(['client_id signed-0', 'client_id later']);
  }));

test('a tenant sees its own values only, and can neither write for another nor say what was reported', () =>
  withLms(async (by) => {
    await login(by, { client_id: 'mine' });
    const other = await startTenant({ stores: running });

    try {
      const write = (column: string, value: string) =>
        other.db.query(
          `INSERT INTO carrel.unknown_values (${column}, managed_ref, field, slot, value)
           VALUES (${value}, 'x/y', 'iss', 0, 'z')`,
        );

      expect(await other.db.query('SELECT FROM carrel.unknown_values')).toEqual([]);
      await expect(write('tenant', `'tenant_other'`)).rejects.toThrow(/permission denied/);
      await expect(write('reported_at', 'now()')).rejects.toThrow(/permission denied/);
      await expect(other.db.query('DELETE FROM carrel.unknown_values')).rejects.toThrow(/permission denied/);
    } finally {
      await other.stop();
    }
  }));
