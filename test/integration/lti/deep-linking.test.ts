import { expect, test } from '@jest/globals';
import { Browser, toTheForm } from '../../support/lms/browser.ts';
import { INSTRUCTOR, LEARNER, LTI } from '../../../pkg/local/demo/lms/claims.ts';
import { deepLinking } from '../../../pkg/local/demo/lms/deep-linking.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { delivered, type Picking, picking } from '../../support/lms/picked.ts';
import { opensLink } from '../../support/lms/placed.ts';

const { tenant, at } = lmsSuite();

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPj/HwADAgH/eL9GtQAAAABJRU5ErkJggg==',
  'base64',
);

async function uploaded(
  { api }: Pick<Picking, 'api'>,
  name: string,
  { folder = '', file = Buffer.from(`content of ${name}`) } = {},
): Promise<string> {
  const { status, body } = await api.upload('/files', { file, name, fields: folder === '' ? {} : { folder_id: folder } });
  if (status !== 201) throw new Error(`${name} was not uploaded: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

test('a deep linking request opens the picker, which is shown what the LMS accepts', async () => {
  const { page, launchId, api, show } = await picking(
    tenant,
    at,
    {
      accept_types: ['file', 'html', 'ltiResourceLink'],
      accept_media_types: 'image/*, application/pdf',
      accept_multiple: 'false',
      accept_lineitem: true,
    },
    { course: { id: 'asked-1', title: 'Asked' } },
  );

  const { status, body } = await show();

  expect(`${page.origin}${page.pathname}`).toBe(`${tenant.url}/lti/picker`);
  expect([status, body]).toEqual([
    200,
    {
      launch_id: launchId,
      user: { id: (await api.get('/users/me')).body.id },
      context: { title: 'Asked' },
      folder: { id: expect.any(String), name: 'Asked', may_write: true },
      types: ['ltiResourceLink', 'file'],
      media_types: ['image/*', 'application/pdf'],
      multiple: false,
      own_only: false,
      line_items: true,
      answered_at: null,
      expires_at: expect.any(String),
    },
  ]);
});

test('an answer has links of this tool with url, title, text and a signed target, and returns data byte for byte', async () => {
  const data = '{"a":"ü \u2028 %2F+ "}_48076_1::';
  const picker = await picking(tenant, at, { data, accept_lineitem: true });
  const first = await uploaded(picker, 'reading 1.txt');
  const second = await uploaded(picker, 'essay.txt');

  const returned = await delivered(
    at,
    await picker.answer([
      { type: 'ltiResourceLink', file_id: first },
      {
        type: 'ltiResourceLink',
        file_id: second,
        title: 'Essay',
        text: 'By Friday',
        line_item: { score_maximum: 20, tag: 'final' },
      },
    ]),
  );

  expect([returned.method, returned.data]).toEqual(['POST', data]);
  expect(returned.claims[`${LTI}/deployment_id`]).toBe('1');
  const custom = {
    carrel_target: expect.stringMatching(/^v1\./),
    carrel_link_history: '$ResourceLink.id.history',
    carrel_course_history: '$Context.id.history',
  };
  expect(returned.items).toEqual([
    { type: 'ltiResourceLink', url: `${tenant.url}/lti/launch`, title: 'reading 1.txt', text: 'reading 1.txt', custom },
    {
      type: 'ltiResourceLink',
      url: `${tenant.url}/lti/launch`,
      title: 'Essay',
      text: 'By Friday',
      custom,
      lineItem: { label: 'Essay', scoreMaximum: 20, tag: 'final' },
    },
  ]);
  expect((await picker.show()).body.answered_at).toEqual(expect.any(String));
});

test('a link that was given opens its file for a learner of the course, also a file of the instructor’s own', async () => {
  const course = { id: 'opened-1', title: 'Opened' };
  const picker = await picking(tenant, at, {}, { course });
  const file = await uploaded(picker, 'of my own.txt');
  const { items } = await delivered(at, await picker.answer([{ type: 'ltiResourceLink', file_id: file }]));

  const { link, api } = await opensLink(tenant, at, {
    course,
    roles: [LEARNER],
    resourceLinkId: 'given',
    custom: items[0]?.custom ?? {},
  });
  const { status, bytes } = await api.get(`/files/${file}/download`);

  expect([link.file, link.problem]).toEqual([{ id: file, name: 'of my own.txt' }, null]);
  expect([status, bytes.toString()]).toEqual([200, 'content of of my own.txt']);
});

test('a deep linking request that changes nothing costs the one statement of a launch', async () => {
  const opened = { user: { id: 'warm' }, course: { id: 'warm-1', title: 'Warm' }, roles: [INSTRUCTOR] };
  await picking(tenant, at, {}, opened);
  const browser = new Browser();
  const form = await toTheForm(browser, at.lms.open(at.clientId, opened, deepLinking(at.lms.issuer)));
  if ('ended' in form) throw new Error(form.ended.text);

  const { reply: page, sql } = await tenant.counting(() => browser.post(form.action, form.fields));

  expect([page.status, sql.length]).toEqual([303, 1]);
});

test('a request without data is answered without, and cancelling returns an empty list', async () => {
  const picker = await picking(tenant, at, { data: undefined, accept_multiple: undefined });

  const returned = await delivered(at, await picker.answer([]));

  expect([returned.items, returned.data]).toEqual([[], undefined]);
});

test('a link is a share link made for it, which works without a session', async () => {
  const picker = await picking(tenant, at);
  const file = await uploaded(picker, 'shared.txt');

  const { items } = await delivered(at, await picker.answer([{ type: 'link', file_id: file }]));

  expect(items).toEqual([
    { type: 'link', url: expect.stringMatching(`^${tenant.url}/s/[0-9a-f]{64}$`), title: 'shared.txt', text: 'shared.txt' },
  ]);
  expect((await new Browser().get(items[0]?.url ?? '')).text).toContain('shared.txt');
  const { body } = await picker.api.get(`/files/${file}/shares`);
  expect(body.data.map(({ url }: { url: string }) => url)).toEqual([items[0]?.url]);
});

test('the LMS fetches the chosen version of a file and an image without a session, also after the picker has ended', async () => {
  const picker = await picking(tenant, at);
  const file = await uploaded(picker, 'hand-in.txt');
  const image = await uploaded(picker, 'cell.png', { file: PNG });

  const { items } = await delivered(
    at,
    await picker.answer([
      { type: 'file', file_id: file },
      { type: 'image', file_id: image, title: 'A cell' },
    ]),
  );
  await picker.api.upload(`/files/${file}`, { file: Buffer.from('changed since'), name: 'hand-in.txt', method: 'PUT' });
  await picker.api.post('/auth/logout', {});

  expect(items).toEqual([
    {
      type: 'file',
      url: expect.any(String),
      title: 'hand-in.txt',
      text: 'hand-in.txt',
      expiresAt: expect.any(String),
      mediaType: 'text/plain',
    },
    { type: 'image', url: expect.any(String), title: 'A cell', text: 'A cell', mediaType: 'image/png' },
  ]);
  const [text, picture] = await Promise.all(items.map(({ url = '' }) => tenant.anonymous.raw('GET', url)));
  expect([text?.status, text?.bytes.toString(), text?.headers['content-length']]).toEqual([200, 'content of hand-in.txt', '22']);
  expect(text?.headers['content-disposition']).toBe('attachment; filename="hand-in.txt"');
  expect([picture?.status, picture?.bytes.equals(PNG), picture?.headers['cross-origin-resource-policy']]).toEqual([
    200,
    true,
    'cross-origin',
  ]);
});

test('a new data key ends no image’s address: it works while its giver may sign in and the file exists', async () => {
  const picker = await picking(tenant, at);
  const image = await uploaded(picker, 'cell.png', { file: PNG });
  const { items } = await delivered(at, await picker.answer([{ type: 'image', file_id: image }]));
  const url = items[0]?.url ?? '';
  const shown = async (address = url): Promise<number> => (await tenant.anonymous.raw('GET', address)).status;
  const giver = (await picker.api.get('/users/me')).body.id;

  const statuses = [await shown(), await shown(`${url.slice(0, -64)}${'0'.repeat(64)}`)];
  await tenant.admin.patch(`/users/${giver}`, { is_active: false });
  statuses.push(await shown());
  await tenant.admin.patch(`/users/${giver}`, { is_active: true });
  statuses.push(await shown());
  await tenant.db.query('DELETE FROM files WHERE uuid = $1', [image]);
  statuses.push(await shown());

  expect(url).toMatch(/\/tickets\/image-[0-9a-f]{64}$/);
  expect(statuses).toEqual([200, 404, 404, 200, 404]);
});

test('a file of another course’s folder, or of the trash, is not given, and nothing is left of the refused answer', async () => {
  const picker = await picking(tenant, at);
  const own = await uploaded(picker, 'mine.txt');
  const trashed = await uploaded(picker, 'gone.txt');
  await picker.api.delete(`/files/${trashed}`);
  const other = await launched(tenant, at, { course: { id: 'foreign', title: 'Foreign' } });
  const { body: launch } = await other.api.get(`/lti/launches/${other.launchId}`);
  const foreign = await uploaded(other, 'foreign.txt', { folder: launch.folder.id });

  const codes = [];
  for (const file_id of [foreign, trashed, '00000000-0000-4000-8000-000000000000']) {
    const { status, body } = await picker.answer([
      { type: 'link', file_id: own },
      { type: 'file', file_id },
    ]);
    codes.push([status, body.error]);
  }

  expect(codes).toEqual([
    [404, 'not_found'],
    [404, 'not_found'],
    [404, 'not_found'],
  ]);
  expect((await picker.api.get(`/files/${own}/shares`)).body.data).toEqual([]);
  expect((await delivered(at, await picker.answer([]))).items).toEqual([]);
});

test('an instructor links what colleagues put into the folder of the course, and shares only what they may share', async () => {
  const course = { id: 'shared-1', title: 'Shared' };
  const colleague = await launched(tenant, at, { course, roles: [INSTRUCTOR] });
  const { body: launch } = await colleague.api.get(`/lti/launches/${colleague.launchId}`);
  const inCourse = await uploaded(colleague, 'of the colleague.txt', { folder: launch.folder.id });
  const elsewhere = await uploaded(colleague, 'lent.txt');
  const picker = await picking(tenant, at, {}, { course });
  const { body: me } = await picker.api.get('/users/me');
  await colleague.api.post(`/files/${elsewhere}/permissions`, { user_id: me.id, permission_level: 'read' });

  const refused = [];
  for (const item of [
    { type: 'link', file_id: inCourse },
    { type: 'ltiResourceLink', file_id: elsewhere },
  ]) {
    refused.push((await picker.answer([item])).body.error);
  }
  const { items } = await delivered(at, await picker.answer([{ type: 'ltiResourceLink', file_id: inCourse }]));

  expect(refused).toEqual(['forbidden', 'forbidden']);
  expect(items.map(({ title }) => title)).toEqual(['of the colleague.txt']);
});

test('a learner hands in files of their own where the LMS asks for files alone', async () => {
  const course = { id: 'hand-in-1', title: 'Hand in' };
  const instructor = await launched(tenant, at, { course, roles: [INSTRUCTOR] });
  const { body: launch } = await instructor.api.get(`/lti/launches/${instructor.launchId}`);
  const task = await uploaded(instructor, 'task.txt', { folder: launch.folder.id });
  const picker = await picking(tenant, at, { accept_types: ['file', 'link'] }, { course, roles: [LEARNER] });
  const own = await uploaded(picker, 'solution.txt');

  const { body: view } = await picker.show();
  const codes = [];
  for (const item of [
    { type: 'file', file_id: task },
    { type: 'link', file_id: own },
  ])
    codes.push((await picker.answer([item])).body.error);
  const { items } = await delivered(at, await picker.answer([{ type: 'file', file_id: own }]));

  expect([view.types, view.own_only, view.folder]).toEqual([['file'], true, null]);
  expect(codes).toEqual(['item_refused', 'item_refused']);
  expect(items.map(({ type, title }) => [type, title])).toEqual([['file', 'solution.txt']]);
});

test('only what accept_types, accept_media_types, accept_multiple and accept_lineitem permit is given', async () => {
  const refusedBy = async (settings: Record<string, unknown>, item: object, times = 1): Promise<string> => {
    const picker = await picking(tenant, at, settings);
    const [text, image] = [await uploaded(picker, 'a.txt'), await uploaded(picker, 'a.png', { file: PNG })];
    const chosen = { file_id: text, ...item, ...('image' in item ? { file_id: image, image: undefined } : {}) };
    const { status, body } = await picker.answer(Array.from({ length: times }, () => chosen));
    await picker.api.delete(`/files/${text}`);
    await picker.api.delete(`/files/${image}`);
    return status === 201 ? 'given' : body.error;
  };
  const file = { type: 'file' };

  const codes = [
    await refusedBy({ accept_types: ['link'] }, file),
    await refusedBy({ accept_types: ['html', 'file'] }, { type: 'html' }),
    await refusedBy({ accept_types: ['x-future'] }, file),
    await refusedBy({ accept_media_types: 'image/*' }, file),
    await refusedBy({ accept_media_types: 'image/*, TEXT/plain;q=1' }, file),
    await refusedBy({ accept_media_types: ['*/*'] }, file),
    await refusedBy({ accept_media_types: 'image/*' }, { type: 'link' }),
    await refusedBy({}, { type: 'image' }),
    await refusedBy({ accept_media_types: 'text/*' }, { type: 'image', image: true }),
    await refusedBy({ accept_multiple: 'false' }, file, 2),
    await refusedBy({ accept_multiple: undefined }, file, 2),
    await refusedBy({ accept_multiple: 'true' }, file, 2),
    await refusedBy({ accept_lineitem: 'false' }, { type: 'ltiResourceLink', line_item: { score_maximum: 1 } }),
    await refusedBy({}, { type: 'ltiResourceLink', line_item: { score_maximum: 1 } }),
    await refusedBy({}, { type: 'ltiResourceLink', line_item: { score_maximum: 0 } }),
    await refusedBy({ accept_lineitem: true }, { ...file, line_item: { score_maximum: 1 } }),
  ];

  expect(codes).toEqual([
    'item_refused',
    'validation_failed',
    'item_refused',
    'item_refused',
    'given',
    'given',
    'given',
    'item_refused',
    'given',
    'item_refused',
    'item_refused',
    'given',
    'item_refused',
    'given',
    'validation_failed',
    'item_refused',
  ]);
});

test('by Query the answer extends the LMS’s address; over 8 KB it is refused, and fewer items then pass', async () => {
  await tenant.db.tables.ltiTools.update({ id: at.toolId }, { deepLinkingResponseMode: 'Query' });
  const back = `${at.lms.issuer}/deep-links/return?x=a%20b&y=%C3%BC#top`;
  const picker = await picking(tenant, at, { deep_link_return_url: back });
  const file = await uploaded(picker, 'long.txt');
  const item = { type: 'ltiResourceLink', file_id: file, text: 'x'.repeat(900) };

  const long = await picker.answer(Array.from({ length: 8 }, () => item));
  const short = await picker.answer([item]);
  const returned = await delivered(at, short);
  await tenant.db.tables.ltiTools.update({ id: at.toolId }, { deepLinkingResponseMode: 'FormPost' });

  expect([long.status, long.body.error, long.body.message]).toEqual([
    422,
    'answer_too_long',
    expect.stringMatching(/^The address of the answer has \d+ characters; the maximum is 8192\. Choose fewer files/),
  ]);
  expect(short.body).toEqual({ method: 'get', url: back.replace('#top', `&JWT=${short.body.jwt}#top`), jwt: expect.any(String) });
  expect([returned.method, returned.items.length]).toEqual(['GET', 1]);
});

test('a score that is given for a line item of the course while a picker is open leaves its request to be answered', async () => {
  const course = { id: 'scored-1', title: 'Scored' };
  const { api } = await launched(tenant, at, { course, roles: [INSTRUCTOR] });
  const { data } = (await api.get('/lti/contexts')).body;
  const path = `/lti/contexts/${data.find(({ lms_id }: { lms_id: string }) => lms_id === course.id).id}/line-items`;
  const { body: item } = await api.post(path, { label: 'Essay', score_maximum: 10 });
  const picker = await picking(tenant, at, {}, { course });

  const scored = await api.post(`${path}/${item.id}/scores`, { user_id: 'ben', score: 8, score_maximum: 10 });

  expect(scored.status).toBe(201);
  expect((await delivered(at, await picker.answer([]))).items).toEqual([]);
});

test('a course that was only asked for content afterwards still offers the services of its last launch', async () => {
  const course = { id: 'offers-1', title: 'Offers' };
  const { api } = await launched(tenant, at, { course, roles: [INSTRUCTOR] });
  const services = async () =>
    (await api.get('/lti/contexts')).body.data.find(({ lms_id }: { lms_id: string }) => lms_id === course.id).services;
  const before = await services();

  await picking(tenant, at, {}, { course }); // with the claims of services
  const withClaims = await services();
  await tenant.db.query(
    `UPDATE lti_launches SET ags_lineitems_url = NULL, nrps_url = NULL WHERE context_id = $1 AND resource_link_id IS NULL`,
    [course.id],
  );

  expect([withClaims.roster, await services()]).toEqual([true, before]);
});
