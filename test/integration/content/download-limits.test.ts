import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Api } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { range, untilServed, waitFor } from '../../support/wait.ts';

const MIB = 1 << 20;
const DOWNLOADS = 8;
const BY_LINKS = 4;
const OF_OWNER = 3;
const TO_NETWORK = 2;

const tenant = serverSuite({
  trustedProxies: 1,
  transfers: {
    perPerson: 5,
    downloads: DOWNLOADS,
    byLinks: BY_LINKS,
    byLinksOfOwner: OF_OWNER,
    byLinksToNetwork: TO_NETWORK,
    leastBytesPerSecond: 0,
    leastBytesPerSecondWhenFull: 0,
  },
});

const begun = new Set<IncomingMessage>();
afterEach(async () => {
  for (const response of begun) response.destroy();
  begun.clear();
  await waitFor('the ends of all downloads', async () => (await inProgress()) === 0);
});

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${tenant.opsUrl}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(name))
      ?.split(' ')
      .at(-1) ?? 0,
  );
};
const inProgress = (): Promise<number> => metric('transfers_in_progress{kind="download"');

/** A download of which nothing is read beyond the first bytes, from this address; its status. */
async function unread(url: string, { from, token }: { from: string; token?: string | undefined }): Promise<number | undefined> {
  const headers = { 'x-forwarded-for': from, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const sent = request(url, { agent: false, headers }).end();
  sent.on('error', () => undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  begun.add(response);
  await once(response, 'readable');
  return response.statusCode;
}

/** Somebody with a large file. */
async function owner(): Promise<{ api: Api; file: string; link(): Promise<string> }> {
  const { api } = await tenant.user();
  const { body } = await untilServed(() => api.upload('/files', { file: Buffer.alloc(24 * MIB), name: 'large' }));
  const link = async (): Promise<string> => `${api.url}/s/${(await api.post(`/files/${body.id}/share`, {})).body.token}/download`;
  return { api, file: `${api.url}/files/${body.id}/download`, link };
}

describe('downloads by share links', () => {
  test('count for their network and for the owner of the links, however many links there are', async () => {
    const ada = await owner();
    const links = await Promise.all(range(5).map(() => ada.link()));

    const statuses = [];
    for (const [at, link] of links.slice(0, TO_NETWORK + 1).entries())
      statuses.push([at, await unread(link, { from: '192.0.2.1' })]);
    const others = [await unread(links[3] ?? '', { from: '192.0.2.2' }), await unread(links[4] ?? '', { from: '192.0.2.3' })];
    const refused = await tenant.anonymous.raw('GET', links[0] ?? '', { headers: { 'x-forwarded-for': '192.0.2.1' } });

    expect(statuses).toEqual([
      [0, 200],
      [1, 200],
      [2, 429],
    ]);
    expect(others).toEqual([200, 429]);
    expect(refused).toMatchObject({
      status: 429,
      body: { error: 'too_many_transfers', retry_after: 5 },
      headers: { 'retry-after': '5' },
    });
  });

  test('have a part of the server in all; people who sign in, and the links’ owner, get downloads meanwhile', async () => {
    const [ada, bob] = [await owner(), await owner()];
    const before = await metric('transfers_refused_total{limit="links"');
    const statuses = [
      await unread(await ada.link(), { from: '192.0.2.1' }),
      await unread(await ada.link(), { from: '192.0.2.1' }),
      await unread(await bob.link(), { from: '192.0.2.2' }),
      await unread(await bob.link(), { from: '192.0.2.2' }),
    ];
    const refused = await tenant.anonymous.raw('GET', await bob.link(), { headers: { 'x-forwarded-for': '192.0.2.3' } });

    expect(statuses).toEqual([200, 200, 200, 200]);
    expect(refused).toMatchObject({ status: 503, body: { error: 'unavailable' }, headers: { 'retry-after': '5' } });
    expect(await Promise.all([ada, bob].map(({ api, file }) => unread(file, { from: '192.0.2.1', token: api.token })))).toEqual([
      200, 200,
    ]);
    expect([await inProgress(), (await metric('transfers_refused_total{limit="links"')) - before]).toEqual([6, 1]);
  });
});

test('a server has so many downloads in all; one more is a 503 that says when to come again', async () => {
  const people = [await owner(), await owner()];
  const begin = (from: string) => people.map(({ api, file }) => unread(file, { from, token: api.token }));
  expect(await Promise.all(range(DOWNLOADS / people.length).flatMap((at) => begin(`192.0.2.${at}`)))).toEqual(
    range(DOWNLOADS).map(() => 200),
  );

  const refused = await people[0]?.api.get(people[0].file.slice(people[0].api.url.length));

  expect(refused).toMatchObject({ status: 503, body: { error: 'unavailable' }, headers: { 'retry-after': '5' } });
  expect((await people[0]?.api.upload('/files', { file: Buffer.from('x'), name: 'x' }))?.status).toBe(201);
});
