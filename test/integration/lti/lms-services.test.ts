import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AGS, INSTRUCTOR, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { AGS_SCOPES, SCOPE } from '../../../pkg/local/demo/lms/scopes.ts';
import { call } from '../../support/lms/service-tool.ts';
import {
  agsOf,
  bearer,
  ids,
  LINE_ITEM,
  LINE_ITEMS,
  MEMBERS,
  membersUrlOf,
  next,
  RESULTS,
  SCORE,
  type Services,
  startServices,
} from './lms-services.ts';

let at: Services;
beforeAll(async () => {
  at = await startServices();
});
afterAll(() => at.stop());

test('a launch names the services of its course and the scopes that the token end point gives', async () => {
  const claims = await at.launch();
  const { lineitem, lineitems, scope } = agsOf(claims);

  expect(scope).toEqual(AGS_SCOPES);
  await expect(at.tool.token(scope)).resolves.toMatch(/./);
  await expect(at.tool.token([`${SCOPE.score}.all`])).rejects.toThrow('invalid_scope');
  const container = await at.items(lineitems);
  expect([container.status, container.type]).toEqual([200, LINE_ITEMS]);
  const own = {
    id: lineitem,
    label: 'Files',
    scoreMaximum: 100,
    resourceLinkId: 'link-1',
    startDateTime: null,
    endDateTime: null,
  };
  expect(container.body).toEqual([own]);
  const roster = await at.members(membersUrlOf(claims));
  expect([roster.status, roster.type]).toEqual([200, MEMBERS]);
});

test('a line item is created, shown, replaced and deleted; the tool’s fields are stored', async () => {
  const { lineitems } = agsOf(await at.launch());
  const extension = { 'https://at.tool.example.org/x': { y: 1 } };
  const said = {
    label: 'Quiz',
    scoreMaximum: 60,
    resourceId: 'quiz-231',
    tag: 'grade',
    endDateTime: '2026-04-06T22:05:03Z',
    ...extension,
  };

  const made = await at.write('POST', lineitems, said);
  const { id } = made.body;
  const shown = await at.get(id, SCOPE.lineItemReadOnly, LINE_ITEM);
  const replaced = await at.write('PUT', id, { ...made.body, label: 'Test', tag: 'late' });
  const found = await at.items(`${lineitems}?tag=late`);
  const gone = await at.write('DELETE', id);

  expect([made.status, made.type, made.body]).toEqual([201, LINE_ITEM, { id: expect.any(String), startDateTime: null, ...said }]);
  expect(id.startsWith(`${lineitems}/`)).toBe(true);
  expect([shown.status, shown.type, shown.body]).toEqual([200, LINE_ITEM, made.body]);
  expect([replaced.status, replaced.body]).toEqual([200, { ...made.body, label: 'Test', tag: 'late' }]);
  expect(found.body).toEqual([replaced.body]);
  expect([gone.status, gone.body]).toEqual([204, '']);
  expect((await at.get(id, SCOPE.lineItem, LINE_ITEM)).status).toBe(404);
  expect((await at.write('DELETE', id)).status).toBe(404);
});

test('a launch names the line item of its link only while there is exactly one', async () => {
  const opened = { course: at.course() };
  const named = async () => agsOf(await at.tool.launch(opened)).lineitem;
  const { lineitems, lineitem = '' } = agsOf(await at.tool.launch(opened));
  const second = (await at.write('POST', lineitems, { label: 'Second', scoreMaximum: 1, resourceLinkId: 'link-1' })).body.id;

  expect(await named()).toBeUndefined();
  await at.write('DELETE', lineitem);
  expect(await named()).toBe(second);
  await at.write('DELETE', second);
  expect(await named()).toBeUndefined();
  expect((await at.items(lineitems)).body).toEqual([]);
});

test.each([
  ['', ['own', 'a', 'b', 'c', 'd']],
  ['?resource_link_id=link-1', ['own', 'b']],
  ['?resource_id=quiz', ['a', 'b', 'c']],
  ['?tag=late', ['c', 'd']],
  ['?resource_id=quiz&tag=late', ['c']],
  ['?resource_id=quiz&resource_link_id=link-1', ['b']],
  ['?tag=nobody', []],
  ['?resource_id=quiz&limit=1', ['a', 'b', 'c']],
  ['?limit=2', ['own', 'a', 'b', 'c', 'd']],
])('line items by "%s" are %p, page by page', async (query, labels) => {
  const { lineitems, lineitem = '' } = agsOf(await at.launch());
  await at.write('PUT', lineitem, { label: 'own', scoreMaximum: 1 });
  const quiz = { resourceId: 'quiz', scoreMaximum: 1 };
  await at.write('POST', lineitems, { label: 'a', ...quiz });
  await at.write('POST', lineitems, { label: 'b', resourceLinkId: 'link-1', ...quiz });
  await at.write('POST', lineitems, { label: 'c', tag: 'late', ...quiz });
  await at.write('POST', lineitems, { label: 'd', tag: 'late', scoreMaximum: 1 });

  const limit = Number(new URLSearchParams(query).get('limit') ?? 50);
  const pages: string[][] = [];
  for (let url: string | undefined = `${lineitems}${query}`; url !== undefined;) {
    const page = await at.items(url);
    pages.push(page.body.map(({ label }: { label: string }) => label));
    url = next(page);
  }

  expect(pages.flat()).toEqual(labels);
  expect(pages).toHaveLength(Math.max(1, Math.ceil(labels.length / limit)));
});

test('results follow from the scores that came, scaled to the maximum of the line item', async () => {
  const { lineitem = '' } = agsOf(await at.launch());
  expect((await at.results(lineitem)).body).toEqual([]);

  const entered = await at.score(lineitem, { scoreGiven: 8, scoreMaximum: 10, comment: 'Good' });
  await at.score(lineitem, { userId: 'chi', scoreGiven: 1.5, scoreMaximum: 1 });
  const all = await at.results(lineitem);

  const ben = {
    id: `${lineitem}/results/ben`,
    scoreOf: lineitem,
    userId: 'ben',
    resultScore: 80,
    resultMaximum: 100,
    comment: 'Good',
  };
  expect(entered.body).toEqual({ resultUrl: ben.id });
  expect([all.status, all.type]).toEqual([200, RESULTS]);
  expect(all.body).toEqual([ben, expect.objectContaining({ userId: 'chi', resultScore: 150 })]);
  expect((await at.results(lineitem, '?user_id=ben')).body).toEqual([ben]);
  expect((await at.results(lineitem, '?user_id=nobody')).body).toEqual([]);
  const first = await at.results(lineitem, '?limit=1');
  expect([first.body, (await at.get(next(first) ?? '', SCOPE.result, RESULTS)).body]).toEqual([[ben], [all.body[1]]]);
  await at.write('PUT', lineitem, { label: 'Files', scoreMaximum: 5 });
  expect((await at.results(lineitem, '?user_id=ben')).body).toEqual([{ ...ben, resultScore: 4, resultMaximum: 5 }]);
});

test('a score without scoreGiven empties its cell; one that is not newer changes nothing', async () => {
  const { lineitem = '' } = agsOf(await at.launch());
  await at.score(lineitem, { scoreGiven: 8, scoreMaximum: 10 });

  const older = await at.score(lineitem, { scoreGiven: 1, scoreMaximum: 10, timestamp: '2020-01-01T00:00:00.000Z' });
  const results = await at.results(lineitem);
  const emptied = await at.score(lineitem, { gradingProgress: 'NotReady' });

  expect([older.status, results.body[0].resultScore, emptied.status]).toEqual([409, 80, 200]);
  expect((await at.results(lineitem)).body).toEqual([]);
});

test("a line item whose address has a query, as Moodle's, has its scores and results before it", async () => {
  const opened = { course: at.course() };
  const lineitem = `${at.lms.issuer}/ags/7/lineitems/9/lineitem?type_id=2`;
  const claims = await at.tool.launch(opened, { claims: (all) => void ((all[AGS] as { lineitem: string }).lineitem = lineitem) });
  await at.score(lineitem, { scoreGiven: 1, scoreMaximum: 1 });

  const shown = await at.get(lineitem.replace('?', '/results?user_id=ben&'), SCOPE.result, RESULTS);

  expect(agsOf(claims).lineitem).toBe(lineitem);
  expect(shown.body).toEqual([
    expect.objectContaining({ id: lineitem.replace('?', '/results/ben?'), scoreOf: lineitem, resultScore: 100 }),
  ]);
  expect(agsOf(await at.tool.launch(opened)).lineitem).toBe(lineitem);
});

test('line items of one tool are not there for another', async () => {
  const { lineitems, lineitem = '' } = agsOf(await at.launch());
  const as = (method: string, url: string, accept: string) =>
    call(method, url, { ...bearer(at.othersToken), accept, 'content-type': SCORE });

  expect((await as('GET', lineitems, LINE_ITEMS)).body).toEqual([]);
  expect((await as('GET', lineitem, LINE_ITEM)).status).toBe(404);
  expect((await as('DELETE', lineitem, LINE_ITEM)).status).toBe(404);
  expect((await as('GET', `${lineitem}/results`, RESULTS)).status).toBe(404);
  expect((await as('POST', `${lineitem}/scores`, SCORE)).status).toBe(404);
});

test('the members of a course are who launched there and who was enrolled, until they leave', async () => {
  const where = at.course();
  const url = membersUrlOf(
    await at.tool.launch({ course: where, user: { id: 'ada', name: 'Ada', email: 'ada@example.org' }, roles: [INSTRUCTOR] }),
  );
  at.lms.courses.enrol(where, { user_id: 'ben', roles: ['Learner'], status: 'Inactive', name: 'Ben' });
  at.lms.courses.enrol(where, { user_id: 'chi', roles: [LEARNER] });
  await at.tool.launch({ course: where, user: { id: 'chi' }, roles: [LEARNER, INSTRUCTOR] });

  const ada = { user_id: 'ada', roles: [INSTRUCTOR], status: 'Active', name: 'Ada', email: 'ada@example.org' };
  const ben = { user_id: 'ben', roles: ['Learner'], status: 'Inactive', name: 'Ben' };
  const chi = { user_id: 'chi', roles: [LEARNER, INSTRUCTOR], status: 'Active' };
  const { id, title } = where;
  expect((await at.members(url)).body).toEqual({ id: url, context: { id, label: id, title }, members: [ada, ben, chi] });
  for (const role of ['Learner', encodeURIComponent(LEARNER)])
    expect(ids(await at.members(`${url}?role=${role}`))).toEqual(['ben', 'chi']);
  expect(ids(await at.members(`${url}?role=Mentor`))).toEqual([]);
  at.lms.courses.unenrol(id, 'ben');
  expect(ids(await at.members(url))).toEqual(['ada', 'chi']);
});

test('the members of a link include their message; a link that does not exist or is not the tool’s is refused', async () => {
  const where = at.course();
  const url = membersUrlOf(await at.launch({ course: where, resourceLinkId: 'link 7' }));
  await at.other.launch({ course: where, resourceLinkId: 'theirs' });

  const { body } = await at.members(`${url}?rlid=link+7&role=Instructor`);

  const message = [{ 'https://purl.imsglobal.org/spec/lti/claim/message_type': 'LtiResourceLinkRequest' }];
  expect(body).toMatchObject({ id: `${url}?rlid=link+7`, members: [{ user_id: 'ada', message }] });
  expect((await at.members(`${url}?rlid=theirs`)).status).toBe(403);
  expect((await at.members(`${url}?rlid=link-1`)).status).toBe(403);
});
