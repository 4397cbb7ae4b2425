import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import pg from 'pg';
import { Agent, request } from 'undici';
import { Deployments } from '../../pkg/lti/registrations/deployments.service.ts';
import { startServerProcess } from '../faults/server-process.ts';
import { Api } from '../support/clients/api.ts';
import { INSTRUCTOR } from '../../pkg/local/demo/lms/claims.ts';
import { launched } from '../support/lms/launched.ts';
import { placedFor } from '../support/lms/placed.ts';
import { registeredLms, type Registration } from '../support/lms/registration.ts';
import { Browser, follow, toTheForm } from '../support/lms/browser.ts';
import { freePort } from '../support/backends/ports.ts';
import { startTenant, type TestTenant } from '../support/programs/server.ts';
import type { TestStores } from '../support/backends/stores.ts';
import { range } from '../support/wait.ts';
import { byTurns, type Line, perSecond, rateLine } from './measure.ts';
import { startProgram } from './program.ts';

/** Enough for a second, so that code that is not compiled yet does not decide the rate. */
const LAUNCHES = 1_200;
const AT_ONCE = 16;
const PEOPLE = 50;
const INSERT = 'INSERT INTO bench_launches (token) VALUES ($1)';
const TABLE = `
  CREATE TABLE bench_launches (launch_id uuid PRIMARY KEY DEFAULT gen_random_uuid(), nonce uuid UNIQUE DEFAULT gen_random_uuid(),
    token text)`;

interface Prepared {
  readonly body: string;
  readonly cookie: string;
  readonly token: string;
}

/**
 * Launches a second of a server that knows the people and the course, beside jose's verification of the same tokens and one
 * insert each.
 */
export async function launches(stores: TestStores): Promise<Line[]> {
  const tenant = await startTenant({ stores });
  const url = `http://127.0.0.1:${await freePort()}`;
  const at = await registeredLms({ ...tenant, url });
  const pool = new pg.Pool({
    connectionString: stores.postgres.superuser,
    max: 5,
  });
  await pool.query(TABLE);
  const jwks = await (await fetch(at.lms.jwksEndpoint)).text();
  const server = await startServerProcess(tenant, Number(new URL(url).port));
  const koa = await startProgram('control-server.ts', {
    REDIS_URL: stores.redis.adminUrl,
    DATABASE_URL: stores.postgres.superuser,
    JWKS: jwks,
    INSERT,
  });
  try {
    const keys = createLocalJWKSet(JSON.parse(jwks) as JSONWebKeySet);
    let last: Prepared[] = [];
    const ours = async (): Promise<number> => {
      last = await prepare(at, LAUNCHES);
      return perSecond(last, AT_ONCE, (launch) => post(`${url}/launch`, launch, 303));
    };
    const bare = await byTurns(ours, () =>
      perSecond(last, AT_ONCE, async ({ token }) => {
        await jwtVerify(token, keys);
        await pool.query(INSERT, [token]);
      }),
    );
    // Tokens are good at the address that they were issued at.
    const custom = await placedLink({ ...tenant, anonymous: new Api(`${url}/api/v1`) }, at);
    const placed = await byTurns(
      async () => perSecond(await prepare(at, LAUNCHES, custom), AT_ONCE, (launch) => post(`${url}/launch`, launch, 303)),
      ours,
    );
    const confirming = await admittedAt({ ...tenant, url }, at);
    const admitted = await byTurns(
      async () => perSecond(await prepare(confirming, LAUNCHES), AT_ONCE, (launch) => post(`${url}/launch`, launch, 303)),
      ours,
    );
    const behindKoa = await byTurns(ours, () => perSecond(last, AT_ONCE, (launch) => post(`${koa.url}/launch`, launch, 302)));
    return [
      rateLine('LTI launch', bare, 'jose verify + one insert, without HTTP', 0.4),
      rateLine('LTI launch of a link that was placed for a file', placed, 'the same of a link without a target', 0.7),
      rateLine(
        'LTI launch of a deployment that was admitted, with deploymentPolicy Confirm',
        admitted,
        'the same of one that is listed',
        0.7,
      ),
      rateLine('LTI launch, the control behind HTTP', behindKoa, 'jose verify + one insert, behind a bare Koa', 0.4),
      await statements(tenant),
    ];
  } finally {
    await Promise.all([server.end('SIGTERM'), koa.stop(), pool.end(), at.lms.stop()]);
    await tenant.stop();
  }
}

/** The custom parameters of a link that a teacher of the course has placed for a file of theirs. */
async function placedLink(tenant: TestTenant, at: Registration): Promise<Readonly<Record<string, string>>> {
  const teacher = await launched(tenant, at, { user: { id: 'teacher' }, roles: [INSTRUCTOR] });
  const { body } = await teacher.api.upload('/files', { name: 'reader.txt', file: Buffer.from('read') });
  return placedFor(tenant, at, teacher, body.id);
}

/** A registration at the same LMS that lists no deployment, and of which an administrator has admitted the LMS's. */
async function admittedAt(tenant: TestTenant, at: Registration): Promise<Registration> {
  const confirming = await registeredLms(tenant, at, { deploymentPolicy: 'Confirm', deploymentIds: [] });
  const tool = await tenant.db.tables.ltiTools.find({ id: confirming.toolId });
  await new Deployments({ db: tenant.db }).decide(tool?.uuid ?? '', { deployment_id: '1', status: 'admitted' });
  return confirming;
}

/**
 * Links that people have opened, up to the form that their browsers are about to post. `custom`: the links' custom parameters.
 */
async function prepare(
  { lms, clientId }: Registration,
  count: number,
  custom?: Readonly<Record<string, string>>,
): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  await perSecond(range(count), AT_ONCE, async (at) => {
    const browser = new Browser();
    const form = await toTheForm(
      browser,
      lms.open(clientId, { user: { id: `person-${at % PEOPLE}` }, ...(custom ? { custom, resourceLinkId: 'placed' } : {}) }),
    );
    if ('ended' in form) throw new Error(`a login ended early: ${form.ended.text}`);
    const cookie = [...browser.cookies].map(([key, { value }]) => `${key.split(' ')[1]}=${value}`).join('; ');
    prepared.push({
      body: form.fields.toString(),
      cookie,
      token: form.fields.get('id_token') ?? '',
    });
  });
  return prepared;
}

const agent = new Agent({ connections: AT_ONCE });

async function post(url: string, { body, cookie }: Prepared, wanted: number): Promise<void> {
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    cookie,
  };
  const reply = await request(url, {
    method: 'POST',
    dispatcher: agent,
    headers,
    body,
  });
  const text = await reply.body.text();
  if (reply.statusCode !== wanted) throw new Error(`${url} answered ${reply.statusCode}: ${text}`);
}

async function statements(tenant: TestTenant): Promise<Line> {
  const { lms, clientId } = await registeredLms(tenant);
  const launch = () => follow(new Browser(), lms.open(clientId, { user: { id: 'regular' } }));
  await launch();
  const { sql } = await tenant.counting(launch);
  await lms.stop();
  return {
    what: 'statements a launch, with its login',
    ours: String(sql.length),
    control: '',
    target: '≤ 4',
    met: sql.length <= 4,
  };
}
