import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { endpoint } from '../../../pkg/api/endpoint.ts';
import type { Feature } from '../../../pkg/feature/feature.ts';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { startServerProcess } from '../../faults/server-process.ts';
import { freePort } from '../../support/backends/ports.ts';
import { Api } from '../../support/clients/api.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { range, waitFor } from '../../support/wait.ts';

/** Its endpoint always fails. */
const broken: Feature = {
  name: 'broken',
  create: () => ({
    endpoints: [
      endpoint({
        method: 'get',
        path: '/broken',
        operationId: 'getBroken',
        summary: 'Show nothing',
        caller: 'anyone',
        replies: { 200: z.object({}) },
        handle: () => Promise.reject(new TypeError('broken')),
      }),
    ],
  }),
};

const tenant = serverSuite({ features: [broken] });
const quick = serverSuite({ addRequestsEveryMs: 10 });

interface Counts {
  readonly succeeded: number;
  readonly refused: number;
  readonly failed: number;
}

async function countsOf({ db }: TestTenant): Promise<Counts> {
  const [row] = await db.query<Counts>(
    `SELECT coalesce(sum(succeeded), 0)::bigint AS succeeded, coalesce(sum(refused), 0)::bigint AS refused,
       coalesce(sum(failed), 0)::bigint AS failed FROM request_counts`,
  );
  return row ?? { succeeded: 0, refused: 0, failed: 0 };
}

/** The status of a reply whose body has been read: until then the server has not ended it. */
async function statusOf(url: string): Promise<number> {
  const reply = await fetch(url);
  await reply.arrayBuffer();
  return reply.status;
}

/** What `work` adds to the counts; a server adds the rest when it stops. */
async function added(work: () => Promise<unknown>): Promise<Counts> {
  await tenant.restart();
  const before = await countsOf(tenant);
  await work();
  await tenant.restart();
  const after = await countsOf(tenant);
  return {
    succeeded: after.succeeded - before.succeeded,
    refused: after.refused - before.refused,
    failed: after.failed - before.failed,
  };
}

test('answers of the API and pages count by their outcome, and probes, metrics and files of the pages do not', async () => {
  const { api } = await tenant.user({ storage_quota: 1 });
  const page = async (): Promise<string> => (await fetch(`${tenant.url}/`)).text();
  const [, file = ''] = /src="(\/assets\/[^"]+)"/.exec(await page()) ?? [];
  const statuses: number[] = [];

  const counts = await added(async () => {
    for (const name of ['healthz', 'readyz', 'metrics']) statuses.push(await statusOf(`${tenant.opsUrl}/${name}`));
    statuses.push(await statusOf(tenant.url + file));
    await page();
    await api.get('/users/me');
    await api.get('/none');
    await tenant.anonymous.get('/users/me');
    await api.upload('/files', { name: 'a.txt', file: Buffer.from('more') });
    await tenant.anonymous.get('/broken');
  });

  expect(statuses).toEqual([200, 200, 200, 200]);
  expect(counts).toEqual({ succeeded: 2, refused: 3, failed: 1 });
});

test('two servers of a tenant add up, and SIGTERM writes what they have not added', async () => {
  const port = await freePort();

  const counts = await added(async () => {
    const server = await startServerProcess(tenant, port);
    const other = new Api(`http://127.0.0.1:${port}/api/v1`);
    for (const _ of range(20)) {
      await other.get('/openapi.json');
      await tenant.anonymous.get('/users/me');
    }
    expect(await server.end('SIGTERM')).toBe(0);
  });

  expect(counts).toEqual({ succeeded: 20, refused: 20, failed: 0 });
});

test('requests cost no statement of their own', async () => {
  const { reply, sql } = await tenant.counting(() => Promise.all(range(50).map(() => tenant.anonymous.get('/openapi.json'))));

  expect([new Set(reply.map(({ status }) => status)), sql]).toEqual([new Set([200]), []]);
});

test('what the database does not take is added later, once', async () => {
  const table = `"${tenantRole(quick.slug)}".request_counts`;
  const { pool } = quick.rows;
  const additions = (): number => quick.observed.sql.filter((sql) => sql.includes('INSERT INTO request_counts')).length;
  const askFor = (path: string, times: number) => Promise.all(range(times).map(() => quick.anonymous.get(path)));
  const sum = async (): Promise<number> => (await countsOf(quick)).refused;
  await pool.query(`REVOKE INSERT ON ${table} FROM "${tenantRole(quick.slug)}"`);
  const [before, refused] = [await sum(), additions()];

  await askFor('/users/me', 7);
  await waitFor('two additions that were refused', () => additions() >= refused + 2);
  const meanwhile = await sum();
  await pool.query(`GRANT INSERT ON ${table} TO "${tenantRole(quick.slug)}"`);
  await askFor('/users/me', 3);
  await waitFor('the counts of all', async () => (await sum()) >= before + 10);
  await quick.restart();

  expect([meanwhile, await sum()]).toEqual([before, before + 10]);
});

test('an addition deletes hours of more than 90 days', async () => {
  await quick.db.query(
    `INSERT INTO request_counts (hour, succeeded, refused, failed)
     SELECT date_trunc('hour', now(), 'UTC') - days * interval '1 day', 1, 0, 0 FROM unnest($1::int[]) AS days`,
    [[89, 91, 400]],
  );

  await quick.anonymous.get('/openapi.json');

  const left = (): Promise<unknown[]> =>
    quick.db.query(`SELECT (now()::date - hour::date) AS days FROM request_counts WHERE hour < now() - interval '2 days'`);
  await waitFor('the old hours to go', async () => (await left()).length === 1);
  expect(await left()).toEqual([{ days: 89 }]);
});
