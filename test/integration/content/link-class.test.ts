import { expect, test } from '@jest/globals';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';

// The default limits of a Tenant (docs/design/api-conventions.md, Rate limits).
const tenant = serverSuite({ limits: { user: 100, tenant: 1000, ip: 10_000 }, trustedProxies: 1 });

const PEOPLE = 40;
const FILES = ['week 1.txt', 'week 2.txt', 'week 3.txt'];
const school = { headers: { 'x-forwarded-for': '192.0.2.1' } };

/** A folder with three files, and its link. */
async function folder(terms: object = {}): Promise<{ token: string; files: readonly string[] }> {
  const { api } = await tenant.user();
  const { body: made } = await api.post('/folders', { name: 'Course' });
  const files = FILES.map((name) => api.upload('/files', { name, file: Buffer.from(name), fields: { folder_id: made.id } }));
  const { body: share } = await api.post(`/folders/${made.id}/share`, terms);
  return { token: share.token, files: (await Promise.all(files)).map(({ body }) => body.id) };
}

const openPage = (token: string) => tenant.anonymous.raw('GET', `${tenant.url}/s/${token}`, school);

/** What the page asks for when somebody downloads a file: whether the download would begin, then the download. */
async function download(token: string, file: string): Promise<number[]> {
  const path = `/s/${token}/files/${file}/download`;
  const asked = await tenant.anonymous.raw('HEAD', path, school);
  const sent = await tenant.anonymous.get(path, school);
  return [asked.status, sent.status];
}

test('a class of 40 behind one address opens a folder and downloads three files each within a minute', async () => {
  const { token, files } = await folder();
  const people = range(PEOPLE).map(async () => {
    const page = await openPage(token);
    const downloads = await Promise.all(files.map((file) => download(token, file)));
    return [page.status, ...downloads.flat()].join(' ');
  });

  expect(countBy(await Promise.all(people), (statuses) => statuses)).toEqual({ '200 200 200 200 200 200 200': PEOPLE });
});

test('the page of a link has the folder’s first page, which its script need not ask for; not before the password', async () => {
  const [open, locked, request] = [
    await folder(),
    await folder({ password: 'pässword of a link' }),
    await folder({ mode: 'upload' }),
  ];
  const given = async ({ token }: { token: string }) => {
    const page = (await openPage(token)).bytes.toString();
    const [, json] = /<script type="application\/json" id="given">(.*)<\/script>/.exec(page) ?? [];
    return json === undefined ? undefined : JSON.parse(json);
  };
  const { body: listed } = await tenant.anonymous.get(`/s/${open.token}/children?sort=name&limit=200`, {
    headers: { 'x-forwarded-for': '192.0.2.3' },
  });

  expect([await given(open), await given(locked), await given(request)]).toEqual([
    { shared: expect.objectContaining({ kind: 'folder', mode: 'download', name: 'Course' }), children: listed },
    undefined,
    undefined,
  ]);
});

test('a network that asks for all it can by links leaves the others, the API and people who sign in what they had', async () => {
  const { token } = await folder();
  const children = (headers: object) => tenant.anonymous.get(`/s/${token}/children`, headers);
  // However many the machine answers within a minute.
  await waitFor('the network to be refused', async () => {
    await Promise.all(range(100).map((at) => openPage(at % 2 === 0 ? token : 'none')));
    return (await children(school)).status === 429;
  });
  const others = [
    await children({ headers: { 'x-forwarded-for': '192.0.2.2' } }),
    await tenant.anonymous.get('/nothing', school),
    await tenant.anonymous.post('/auth/login', tenant.administrator, school),
  ];

  expect(others.map(({ status }) => status)).toEqual([200, 404, 200]);
});
