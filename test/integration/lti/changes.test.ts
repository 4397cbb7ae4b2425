import { beforeAll, expect, test } from '@jest/globals';
import { Browser, follow } from '../../support/lms/browser.ts';
import { INSTRUCTOR, type Launch, LEARNER, LTI } from '../../../pkg/local/demo/lms/claims.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { launched } from '../../support/lms/launched.ts';

const { tenant, at } = lmsSuite();
beforeAll(async () => {
  await addWebhook(tenant, { events: ['user.updated', 'file.updated'] });
});

const enter = (opened: Partial<Launch>) => launched(tenant, at, { roles: [LEARNER], ...opened });
const me = async (by: Awaited<ReturnType<typeof enter>>) => (await by.api.get('/users/me')).body;
const idOf = async (sub: string): Promise<string> => {
  const identity = await tenant.db.tables.ltiIdentities.find({ subject: sub });
  return (await tenant.db.tables.users.find({ id: identity?.userId ?? 0 }))?.uuid ?? '';
};
const changesOf = async (sub: string): Promise<unknown[]> => {
  const id = await idOf(sub);
  return (await writtenEvents(tenant)).filter(({ data }) => data.id === id).map(({ data }) => data.changes);
};

test('a changed name and address at the LMS are taken over, emit one event, and show wherever the user is shown', async () => {
  const id = 'married';
  const before = await launched(tenant, at, { user: { id, name: 'Ada Byron', email: 'byron@example.org' } });
  const folder = await tenant.db.tables.folders.find({ isSystem: true });
  const fields = { folder_id: folder?.uuid ?? '' };
  const { body: file } = await before.api.upload('/files', { file: Buffer.from('x'), name: 'mine.txt', fields });
  const ownerOf = async () => (await before.api.get(`/files/${file.id}`)).body.owner.name;
  const shown = [await ownerOf(), (await me(before)).contact_email];

  const opened = { user: { id, name: 'Ada Lovelace', email: 'lovelace@example.org' }, roles: [INSTRUCTOR] };
  await enter(opened);
  const { reply, sql } = await tenant.counting(() => follow(new Browser(), at.lms.open(at.clientId, opened)));

  expect(shown).toEqual(['Ada Byron', 'byron@example.org']);
  expect([await ownerOf(), (await me(before)).contact_email]).toEqual(['Ada Lovelace', 'lovelace@example.org']);
  expect(await changesOf(id)).toEqual([['display_name', 'contact_email']]);
  expect([reply.status, sql.length]).toEqual([303, 2]);
});

test('a role, a name and an address that come at once are one user.updated', async () => {
  const id = 'promoted';
  await enter({ user: { id, name: 'First' } });

  await enter({ user: { id, name: 'Second', email: 'second@example.org' }, roles: [INSTRUCTOR] });

  expect(await changesOf(id)).toEqual([['display_name', 'contact_email', 'roles']]);
});

test('a change made in Carrel stays, whatever the LMS sends later', async () => {
  const id = 'own-way';
  await enter({ user: { id, name: 'Robert', email: 'robert@example.org' } });
  const uuid = await idOf(id);
  await tenant.admin.patch(`/users/${uuid}`, { display_name: 'Bob', email: 'bob@example.org' });

  await enter({ user: { id, name: 'Robert', email: 'robert@example.org' } });
  const same = await me(await enter({ user: { id, name: 'Robert', email: 'robert@example.org' } }));
  const other = await me(await enter({ user: { id, name: 'Rupert', email: 'rupert@example.org' } }));

  expect([same, other].map(({ display_name, email, contact_email }) => [display_name, email, contact_email])).toEqual([
    ['Bob', 'bob@example.org', 'robert@example.org'],
    ['Bob', 'bob@example.org', 'rupert@example.org'],
  ]);
  expect(await changesOf(id)).toEqual([['email', 'display_name'], ['contact_email']]);
});

test('an LMS that says nothing takes nothing away, and a name it begins to say is taken', async () => {
  const id = 'shy';
  const nameless = await me(await enter({ user: { id } }));
  const named = await me(await enter({ user: { id, name: 'Shy', email: 'shy@example.org' } }));
  const silent = await me(await enter({ user: { id } }));

  expect(nameless.display_name).toBeNull();
  expect(nameless.email).toMatch(/@lti\.invalid$/);
  expect([nameless, named, silent].map(({ email }) => email)).toEqual([nameless.email, nameless.email, nameless.email]);
  expect([named, silent].map(({ display_name, contact_email }) => [display_name, contact_email])).toEqual([
    ['Shy', 'shy@example.org'],
    ['Shy', 'shy@example.org'],
  ]);
});

test('an invalid address is ignored, and one of another user is a contact address like any other', async () => {
  const id = 'mover';
  const { user } = await tenant.user();
  await enter({ user: { id, email: 'mover@example.org' } });

  const contacts = [];
  for (const email of ['no address', user.email, 'moved@example.org'])
    contacts.push((await me(await enter({ user: { id, email } }))).contact_email);

  expect(contacts).toEqual(['mover@example.org', user.email, 'moved@example.org']);
  expect(await changesOf(id)).toEqual([['contact_email'], ['contact_email']]);
});

test('ten racing launches with a changed name emit one event', async () => {
  const id = 'racing';
  await enter({ user: { id, name: 'Slow' } });

  const pages = await Promise.all(
    range(10).map(() => follow(new Browser(), at.lms.open(at.clientId, { user: { id, name: 'Fast' }, roles: [LEARNER] }))),
  );

  expect(countBy(pages, ({ status }) => status)).toEqual({ 303: 10 });
  expect(await changesOf(id)).toEqual([['display_name']]);
});

const titled = (id: string, title: string) => ({ user: { id: 'prof' }, roles: [INSTRUCTOR], course: { id, title } });
const courseOf = async (contextId: string) => {
  const group = await tenant.db.tables.groups.find({ contextId });
  const [folder] = await tenant.db.query<{ id: number; uuid: string; name: string; path: string }>(
    `SELECT d.id, d.uuid, d.name, d.path FROM folders d JOIN permissions p ON p.resource_type = 'folder' AND p.resource_id = d.id
     WHERE p.group_id = $1`,
    [group?.id],
  );
  if (!group || !folder) throw new Error(`there is no course ${contextId}`);
  return { group, folder };
};

test('another title of the course renames its group and folder, and the paths of all that is below follow', async () => {
  const prof = await launched(tenant, at, titled('c-1', 'Chemistry 🧪 1'));
  const { folder } = await courseOf('c-1');
  const { body: below } = await prof.api.post('/folders', { name: 'Week 1', parent_id: folder.uuid });
  const upload = async (folder_id: string, name: string) =>
    (await prof.api.upload('/files', { file: Buffer.from('x'), name, fields: { folder_id } })).body;
  const files = [await upload(folder.uuid, 'a.txt'), await upload(below.id, 'b.txt')];
  const paths = async () => {
    const shown = await Promise.all(files.map(async ({ id }) => (await prof.api.get(`/files/${id}`)).body));
    return [
      (await prof.api.get(`/folders/${below.id}`)).body.path,
      ...shown.map(({ path, folder: { name } }) => `${path} in ${name}`),
    ];
  };
  const before = await paths();

  await launched(tenant, at, titled('c-1', 'Alchemy'));
  const { reply, sql } = await tenant.counting(() => follow(new Browser(), at.lms.open(at.clientId, titled('c-1', 'Alchemy'))));
  const course = await courseOf('c-1');

  expect(before).toEqual([
    '/Chemistry 🧪 1/Week 1',
    '/Chemistry 🧪 1/a.txt in Chemistry 🧪 1',
    '/Chemistry 🧪 1/Week 1/b.txt in Week 1',
  ]);
  expect([course.group.name, course.folder.name, course.folder.path]).toEqual(['Alchemy', 'Alchemy', '/Alchemy']);
  expect(await paths()).toEqual(['/Alchemy/Week 1', '/Alchemy/a.txt in Alchemy', '/Alchemy/Week 1/b.txt in Week 1']);
  expect([reply.status, sql.length]).toEqual([303, 2]);
});

test('each live file below a course that is renamed is an event with its new path, and Carrel is who did it', async () => {
  const prof = await launched(tenant, at, titled('e-1', 'Early'));
  const { folder } = await courseOf('e-1');
  const { body: below } = await prof.api.post('/folders', { name: 'Week 1', parent_id: folder.uuid });
  const upload = async (folder_id: string, name: string): Promise<string> =>
    (await prof.api.upload('/files', { file: Buffer.from('x'), name, fields: { folder_id } })).body.id;
  const files = [await upload(folder.uuid, 'a.txt'), await upload(below.id, 'b.txt'), await upload(below.id, 'trashed.txt')];
  await prof.api.delete(`/files/${files[2]}`);

  await launched(tenant, at, titled('e-1', 'Late'));
  const events = (await writtenEvents(tenant)).filter(({ data }) => files.includes(String(data.id)));
  const audit = await tenant.admin.get('/audit', { query: { target_id: folder.uuid } });

  expect(events.map(({ event, data }) => [event, data.id, data.path, data.changes])).toEqual([
    ['file.updated', files[0], '/Late/a.txt', ['path']],
    ['file.updated', files[1], '/Late/Week 1/b.txt', ['path']],
  ]);
  const entries = (audit.body.data as { action: string; actor: unknown; request_id: unknown }[]).filter(({ action }) =>
    ['folder.create', 'folder.update'].includes(action),
  );
  expect(entries).toHaveLength(2);
  for (const entry of entries) expect(entry).toMatchObject({ actor: { system: true }, request_id: expect.any(String) });
});

test('a course whose new title would make its path too long keeps its folder’s name, and the launch succeeds', async () => {
  const prof = await launched(tenant, at, titled('p-1', 'Deep'));
  const { folder } = await courseOf('p-1');
  let parent_id = folder.uuid;
  for (const name of range(7).map(() => 'n'.repeat(255)))
    parent_id = (await prof.api.post('/folders', { name, parent_id })).body.id;
  await prof.api.post('/folders', { name: 'n'.repeat(200), parent_id });

  await launched(tenant, at, titled('p-1', 'T'.repeat(200)));
  const course = await courseOf('p-1');

  expect([course.folder.path, course.group.name]).toEqual(['/Deep', 'T'.repeat(200)]);
});

test('a title that another course has is followed by the id of the group, and goes without it once it can', async () => {
  await enter(titled('t-1', 'Twins'));
  await enter(titled('t-2', 'Loner'));

  await enter(titled('t-2', 'Twins'));
  const second = await courseOf('t-2');
  await enter(titled('t-2', 'Loner again'));

  expect(second.group.name).toBe('Twins');
  expect(second.folder.name).toBe(`Twins (${second.group.uuid})`);
  expect((await courseOf('t-2')).folder.path).toBe('/Loner again');
});

test('a folder that was renamed here keeps its name, and a group its own', async () => {
  await enter(titled('k-1', 'Kept'));
  const { folder, group } = await courseOf('k-1');
  await tenant.db.tables.folders.update({ id: folder.id }, { name: 'By hand', path: '/By hand' });
  await tenant.db.tables.groups.update({ id: group.id }, { name: 'Our group' });

  await enter(titled('k-1', 'Changed'));
  await enter(titled('k-1', 'Changed twice'));
  const course = await courseOf('k-1');

  expect([course.folder.name, course.group.name, course.group.lmsTitle]).toEqual(['By hand', 'Our group', 'Changed twice']);
});

test('a launch without a title renames nothing', async () => {
  await enter(titled('l-1', 'Labelled'));
  const untitled = { claims: (claims: Record<string, unknown>) => void (claims[`${LTI}/context`] = { id: 'l-1', label: 'LAB' }) };

  const page = await follow(new Browser(), at.lms.open(at.clientId, titled('l-1', 'Labelled'), untitled));
  const course = await courseOf('l-1');

  expect([page.status, course.folder.name, course.group.name]).toEqual([303, 'Labelled', 'Labelled']);
});

test('ten racing launches with another title rename once, and an upload under way keeps no old path', async () => {
  const prof = await launched(tenant, at, titled('r-1', 'Racing'));
  const { folder } = await courseOf('r-1');

  const [pages, uploads] = await Promise.all([
    Promise.all(range(10).map(() => untilServed(() => follow(new Browser(), at.lms.open(at.clientId, titled('r-1', 'Raced')))))),
    Promise.all(
      range(10).map((index) =>
        untilServed(() =>
          prof.api.upload('/files', { file: Buffer.from('x'), name: `${index}.txt`, fields: { folder_id: folder.uuid } }),
        ),
      ),
    ),
  ]);
  const files = await tenant.db.tables.files.list({ folderId: folder.id });

  expect(countBy(pages, ({ status }) => status)).toEqual({ 303: 10 });
  expect(countBy(uploads, ({ status }) => status)).toEqual({ 201: 10 });
  expect((await courseOf('r-1')).folder.path).toBe('/Raced');
  expect(files.map(({ path }) => path).toSorted()).toEqual(range(10).map((index) => `/Raced/${index}.txt`));
});

test('a title with direction controls or separators makes a folder and a group with readable names', async () => {
  await launched(tenant, at, titled('bidi-1', 'Exams\u202e 1 \\ Law/Ethics'));
  await launched(tenant, at, titled('bidi-2', '\u200b\u2066'));

  const [course, unseen] = [await courseOf('bidi-1'), await courseOf('bidi-2')];
  expect([course.folder.name, course.folder.path, course.group.name]).toEqual([
    'Exams 1 - Law-Ethics',
    '/Exams 1 - Law-Ethics',
    'Exams 1 \\ Law/Ethics',
  ]);
  expect([unseen.folder.name, unseen.group.name]).toEqual(['bidi-2', 'bidi-2']);
});
