import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { HOUR_MS } from '../../../pkg/runtime/time.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { untilServed, waitFor } from '../../support/wait.ts';

const MIB = 1 << 20;
/** Of uploads and of archives: to or from one network, those of one person's links, and of all links. */
const [OF_NETWORK, OF_OWNER, BY_LINKS] = [2, 3, 4];

/** The server's clock begins with an hour: by the hour, uploads by a link are counted anew. */
const TO_NEXT_HOUR_MS = HOUR_MS - (Date.now() % HOUR_MS);

const tenant = serverSuite({
  clock: { ...systemClock, now: () => new Date(Date.now() + TO_NEXT_HOUR_MS) },
  trustedProxies: 1,
  transfers: {
    uploadsByLinksFromNetwork: OF_NETWORK,
    uploadsByLinksOfOwner: OF_OWNER,
    uploadsByLinks: BY_LINKS,
    archives: 2 * BY_LINKS,
    archivesByLinks: OF_NETWORK,
    leastBytesPerSecond: 0,
    leastBytesPerSecondWhenFull: 0,
  },
});

const ends: (() => void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await waitFor('the ends of all transfers', async () => (await inProgress('upload')) + (await inProgress('archive')) === 0);
});

async function inProgress(kind: 'upload' | 'archive'): Promise<number> {
  const text = await (await fetch(`${tenant.opsUrl}/metrics`)).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`transfers_in_progress{kind="${kind}"`));
  return Number(line?.split(' ').at(-1) ?? 0);
}

interface Owner {
  readonly api: Api;
  readonly folder: string;
  link(mode: 'upload' | 'download'): Promise<string>;
}

/** Somebody with a folder that has a large file. */
async function owner(): Promise<Owner> {
  const { api } = await tenant.user();
  const { body } = await api.post('/folders', { name: 'essays' });
  const file = Buffer.alloc(24 * MIB);
  await untilServed(() => api.upload('/files', { name: 'large', file, fields: { folder_id: body.id } }));
  const link = async (mode: string): Promise<string> => (await api.post(`/folders/${body.id}/share`, { mode })).body.token;
  return { api, folder: body.id, link };
}

type Begun = ApiReply | 'taken';

/** Begins an upload by a link that does not end before the test; its answer, where it is refused. */
async function begun(token: string, from: string): Promise<Begun> {
  const [gate, before] = [Promise.withResolvers<void>(), await inProgress('upload')];
  gate.promise.catch(() => undefined);
  ends.push(() => gate.reject(new Error('the test is over')));
  const body = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.alloc(1_000);
    await gate.promise;
  };
  const answer = tenant.anonymous.upload(`/s/${token}/files`, {
    name: 'essay.txt',
    file: Readable.from(body()),
    fields: { uploaded_by: 'Grace' },
    headers: { 'x-forwarded-for': from },
  });
  answer.catch(() => undefined);
  const taken = waitFor<Begun>('the upload', async () => (await inProgress('upload')) > before && 'taken');
  taken.catch(() => undefined);
  return Promise.race([answer, taken]);
}

/** An archive of which nothing is read beyond the first bytes; its status. */
async function unread(path: string, from: string, token?: string): Promise<number | undefined> {
  const headers = { 'x-forwarded-for': from, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const sent = request(`${tenant.apiUrl}${path}`, { agent: false, headers }).end();
  sent.on('error', () => undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  ends.push(() => response.destroy());
  await once(response, 'readable');
  return response.statusCode;
}

/** Whose limit a refusal names. */
const reasonOf = (message: string): string | undefined => /network|of this person|This server/.exec(message)?.[0];
const refusalOf = (reply: Begun): unknown =>
  reply === 'taken' ? reply : [reply.status, reply.body.error, reply.headers['retry-after'], reasonOf(reply.body.message)];

describe('uploads by links', () => {
  test('count for their network and for the owner of the links, however many links there are', async () => {
    const ada = await owner();
    const answers: Begun[] = [];
    for (const network of [1, 1, 1, 2, 3]) answers.push(await begun(await ada.link('upload'), `192.0.2.${network}`));

    expect(answers.map(refusalOf)).toEqual([
      'taken',
      'taken',
      [429, 'too_many_transfers', '5', 'network'],
      'taken',
      [429, 'too_many_transfers', '5', 'of this person'],
    ]);
  });

  test('have a part of the server in all; people who sign in upload meanwhile', async () => {
    const [ada, bob] = [await owner(), await owner()];
    const [ofAda, ofBob] = [await ada.link('upload'), await bob.link('upload')];
    const answers = [
      await begun(ofAda, '192.0.2.1'),
      await begun(ofAda, '192.0.2.1'),
      await begun(ofBob, '192.0.2.2'),
      await begun(ofBob, '192.0.2.2'),
    ];
    const refused = await begun(ofBob, '192.0.2.3');
    const own = await ada.api.upload('/files', { name: 'own.txt', file: Buffer.from('own') });

    expect(answers).toEqual(['taken', 'taken', 'taken', 'taken']);
    expect(refusalOf(refused)).toEqual([503, 'unavailable', '5', 'This server']);
    expect(own.status).toBe(201);
  });

  test('that are refused leave no upload in progress, and count as uploads of the link', async () => {
    const ada = await owner();
    const token = await ada.link('upload');
    for (const _ of [1, 2, 3]) await begun(token, '192.0.2.1');

    const [row] = await tenant.db.query<{ n: number }>('SELECT uploads_in_hour AS n FROM shares WHERE token = $1', [token]);

    expect([row?.n, await inProgress('upload')]).toEqual([3, 2]);
  });
});

describe('archives by links', () => {
  test('count for their network and for the owner of the links', async () => {
    const [ada, bob] = [await owner(), await owner()];
    const statuses = [];
    for (const [of, network] of [
      [ada, 1],
      [ada, 1],
      [bob, 1],
      [ada, 2],
      [bob, 2],
    ] as const)
      statuses.push(await unread(`/s/${await of.link('download')}/zip`, `192.0.2.${network}`));
    const refused = await tenant.anonymous.get(`/s/${await ada.link('download')}/zip`, {
      headers: { 'x-forwarded-for': '192.0.2.3' },
    });

    expect(statuses).toEqual([200, 200, 429, 429, 200]);
    expect(refusalOf(refused)).toEqual([429, 'too_many_transfers', '5', 'of this person']);
  });

  test('have half of the server’s; whoever signs in gets one meanwhile, and a refused one counts nothing', async () => {
    const [ada, bob, carl] = [await owner(), await owner(), await owner()];
    const statuses = [];
    for (const [of, network] of [
      [ada, 1],
      [ada, 1],
      [bob, 2],
      [bob, 2],
    ] as const)
      statuses.push(await unread(`/s/${await of.link('download')}/zip`, `192.0.2.${network}`));
    const token = await carl.link('download');
    const refused = await tenant.anonymous.get(`/s/${token}/zip`, { headers: { 'x-forwarded-for': '192.0.2.3' } });
    const own = await unread(`/folders/${carl.folder}/zip`, '192.0.2.3', carl.api.token);
    const [share] = (await carl.api.get('/shares')).body.data;

    expect([...statuses, own]).toEqual([200, 200, 200, 200, 200]);
    expect(refusalOf(refused)).toEqual([503, 'unavailable', '5', 'This server']);
    expect(share.download_count).toBe(0);
  });
});
