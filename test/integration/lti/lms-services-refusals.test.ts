import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { INSTRUCTOR, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { SCOPE } from '../../../pkg/local/demo/lms/scopes.ts';
import type { ServiceManner } from '../../../pkg/local/demo/lms/service.ts';
import { call } from '../../support/lms/service-tool.ts';
import { range, waitFor } from '../../support/wait.ts';
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
beforeEach(() => at.lms.members.manner.set('well'));
afterAll(() => at.stop());

type Asked = { scope?: string; token?: string; accept?: string; type?: string; body?: unknown };
const QUIZ = { label: 'Quiz', scoreMaximum: 1 };
const POST = { type: LINE_ITEM, scope: SCOPE.lineItem };
const LIST = { accept: LINE_ITEMS, scope: SCOPE.lineItem };
const ROSTER = { accept: MEMBERS, scope: SCOPE.members };
const SENT = { type: SCORE, scope: SCOPE.score };

test.each<[string, string, string, Asked, number, string]>([
  ['no token', 'GET', 'items', { accept: LINE_ITEMS }, 401, 'token'],
  ['a token of somebody’s', 'GET', 'items', { accept: LINE_ITEMS, token: 'made-up' }, 401, 'token'],
  ['no token for members', 'GET', 'members', { accept: MEMBERS }, 401, 'token'],
  ['the scope of scores for line items', 'GET', 'items', { ...LIST, scope: SCOPE.score }, 403, 'lineitem'],
  [
    'the scope to read for a new line item',
    'POST',
    'items',
    { ...POST, scope: SCOPE.lineItemReadOnly, body: QUIZ },
    403,
    'lineitem',
  ],
  ['the scope to read for a change', 'PUT', 'item', { ...POST, scope: SCOPE.lineItemReadOnly, body: QUIZ }, 403, 'lineitem'],
  ['the scope to read for a deletion', 'DELETE', 'item', { scope: SCOPE.lineItemReadOnly }, 403, 'lineitem'],
  ['the scope of line items for results', 'GET', 'item/results', { accept: RESULTS, scope: SCOPE.lineItem }, 403, 'result'],
  ['the scope of line items for scores', 'POST', 'item/scores', { ...SENT, scope: SCOPE.lineItem, body: {} }, 403, '403'],
  ['the scope of line items for members', 'GET', 'members', { ...ROSTER, scope: SCOPE.lineItem }, 403, 'contextmembership'],
  ['a line item that is not there', 'GET', 'items/nobody', { ...LIST, accept: LINE_ITEM }, 404, 'line item'],
  ['a change of one that is not there', 'PUT', 'items/nobody', { ...POST, body: QUIZ }, 404, 'line item'],
  ['results of one that is not there', 'GET', 'items/nobody/results', { accept: RESULTS, scope: SCOPE.result }, 404, 'line item'],
  ['line items of a course that is not there', 'GET', '/ags/nobody/lineitems', LIST, 404, 'course'],
  ['a course whose name is no text', 'GET', '/ags/%zz/lineitems', LIST, 404, 'course'],
  ['members of a course that is not there', 'GET', '/nrps/nobody/members', ROSTER, 404, 'course'],
  ['an address that is nothing', 'GET', 'members/1', ROSTER, 404, 'nothing'],
  ['to delete the container', 'DELETE', 'items', { scope: SCOPE.lineItem }, 405, 'DELETE'],
  ['to patch a line item', 'PATCH', 'item', { ...POST, body: QUIZ }, 405, 'PATCH'],
  ['to post results', 'POST', 'item/results', { scope: SCOPE.result, body: {} }, 405, 'POST'],
  ['to read scores', 'GET', 'item/scores', { scope: SCOPE.score }, 405, '405'],
  ['to post members', 'POST', 'members', { scope: SCOPE.members, body: {} }, 405, 'POST'],
  ['line items as plain JSON', 'GET', 'items', { ...LIST, accept: 'application/json' }, 406, 'lineitemcontainer'],
  [
    'the roster of NRPS 1',
    'GET',
    'members',
    { ...ROSTER, accept: 'application/vnd.ims.lis.v2.membershipcontainer+json' },
    406,
    'nrps',
  ],
  ['a line item of another type', 'POST', 'items', { ...POST, type: 'application/json', body: QUIZ }, 415, 'lineitem+json'],
  ['a change of another type', 'PUT', 'item', { ...POST, type: LINE_ITEMS, body: QUIZ }, 415, 'lineitem+json'],
  ['a score of another type', 'POST', 'item/scores', { ...SENT, type: 'application/json', body: {} }, 415, '415'],
  ['what is no JSON', 'POST', 'items', { ...POST, body: 'label=Quiz' }, 400, 'not JSON'],
  ['a list', 'POST', 'items', { ...POST, body: [QUIZ] }, 400, 'not an object'],
  ['no label', 'POST', 'items', { ...POST, body: { scoreMaximum: 1 } }, 400, 'label is missing'],
  ['a blank label', 'POST', 'items', { ...POST, body: { ...QUIZ, label: ' ' } }, 400, 'label'],
  ['no maximum', 'POST', 'items', { ...POST, body: { label: 'Quiz' } }, 400, 'scoreMaximum is missing'],
  ['a maximum of 0', 'POST', 'items', { ...POST, body: { ...QUIZ, scoreMaximum: 0 } }, 400, 'scoreMaximum'],
  ['a maximum that is text', 'POST', 'items', { ...POST, body: { ...QUIZ, scoreMaximum: '1' } }, 400, 'scoreMaximum'],
  [
    'a time without zone',
    'POST',
    'items',
    { ...POST, body: { ...QUIZ, endDateTime: '2026-01-01T00:00:00' } },
    400,
    'endDateTime',
  ],
  ['a tag that is a number', 'POST', 'items', { ...POST, body: { ...QUIZ, tag: 7 } }, 400, 'tag'],
  ['an extension that has no address', 'POST', 'items', { ...POST, body: { ...QUIZ, colour: 'red' } }, 400, 'colour'],
  ['a link that is not there', 'POST', 'items', { ...POST, body: { ...QUIZ, resourceLinkId: 'nobody' } }, 404, 'resourceLinkId'],
  ['another id', 'PUT', 'item', { ...POST, body: { ...QUIZ, id: 'https://x.example' } }, 400, 'id may not'],
  ['another link', 'PUT', 'item', { ...POST, body: { ...QUIZ, resourceLinkId: 'x' } }, 400, 'resourceLinkId may not'],
  ['a change without label', 'PUT', 'item', { ...POST, body: { scoreMaximum: 1 } }, 400, 'label is missing'],
  ['a limit of 0', 'GET', 'items?limit=0', LIST, 400, 'limit'],
  ['a limit that is none', 'GET', 'members?limit=all', ROSTER, 400, 'limit'],
  ['two roles', 'GET', 'members?role=Learner&role=Instructor', ROSTER, 400, 'role occurs twice'],
  ['a score without a person', 'POST', 'item/scores', { ...SENT, body: { timestamp: '2026-01-01T00:00:00.0Z' } }, 400, 'userId'],
])('%s is refused: %s %s', async (_what, method, path, { scope, token, accept = '*/*', type, body }, status, reason) => {
  const claims = await at.launch();
  const { lineitems, lineitem = '' } = agsOf(claims);
  const url = path
    .replace(/^items/, lineitems)
    .replace(/^item/, lineitem)
    .replace(/^members/, membersUrlOf(claims))
    .replace(/^\//, `${at.lms.issuer}/`);
  const sent = token ?? (scope === undefined ? undefined : at.tokens[scope]);

  const reply = await call(
    method,
    url,
    { accept, ...(sent === undefined ? {} : bearer(sent)), ...(type === undefined ? {} : { 'content-type': type }) },
    body,
  );

  expect([reply.status, reply.body.reason]).toEqual([status, expect.stringContaining(reason)]);
  if (status === 405 && !path.endsWith('scores')) expect(reply.headers.get('allow')).toMatch(/GET/);
  expect((await at.items(lineitems)).body).toEqual([
    expect.objectContaining({ id: lineitem, label: 'Files', scoreMaximum: 100 }),
  ]);
});

/** A course of seven, of whom every second one teaches. */
async function seven(): Promise<string> {
  const where = at.course();
  for (const n of range(7)) at.lms.courses.enrol(where, { user_id: `m-${n}`, roles: [n % 2 === 0 ? INSTRUCTOR : LEARNER] });
  return membersUrlOf(await at.tool.launch({ course: where, user: { id: 'm-0' }, roles: [INSTRUCTOR] }));
}

test.each<[ServiceManner, string[]]>([
  ['well', ['m-0', 'm-2', 'm-4', 'm-6']],
  ['odd quotes', ['m-0', 'm-2', 'm-4', 'm-6']],
  ['no quotes', ['m-0', 'm-2', 'm-4', 'm-6']],
  ['relative link', ['m-0', 'm-2', 'm-4', 'm-6']],
  ['several links', ['m-0', 'm-2', 'm-4', 'm-6']],
  ['link drops filters', ['m-0', 'm-2', 'm-4', 'm-3', 'm-4', 'm-5', 'm-6']],
  ['link loops', ['m-0', 'm-2', 'm-4', 'm-0', 'm-2', 'm-4', 'm-0', 'm-2', 'm-4']],
  ['endless links', ['m-0', 'm-2', 'm-4', 'm-6']],
])('a roster whose pages follow each other by the manner "%s" reads so', async (manner, expected) => {
  at.lms.members.manner.set(manner);
  const read: string[] = [];
  let [url, pages]: [string | undefined, number] = [`${await seven()}?role=Instructor&limit=3`, 0];
  for (; url !== undefined && pages < 3; pages += 1) {
    const page = await at.members(url);
    read.push(...ids(page));
    const after = next(page);
    url = after === undefined ? undefined : new URL(after, url).href;
  }

  expect(read).toEqual(expected);
  expect(url !== undefined).toBe(manner === 'link loops' || manner === 'endless links');
});

test('a platform may give fewer than the limit asks for, and another host as the next page', async () => {
  const url = await seven();
  at.lms.members.pageSize = 2;
  const short = await at.members(`${url}?limit=5`);
  at.lms.members.pageSize = 50;
  at.lms.members.manner.set({ next: 'https://elsewhere.example.org/members?from=3' });

  expect([ids(short), next(short)]).toEqual([['m-0', 'm-1'], `${url}?limit=5&from=2`]);
  expect(next(await at.members(url))).toBe('https://elsewhere.example.org/members?from=3');
});

test('a token that was taken back is refused until there is another', async () => {
  const url = await seven();
  at.lms.members.manner.set('revoked', 1);
  const accept = MEMBERS;
  const refused = await call('GET', url, { ...bearer(await at.tool.token([SCOPE.members])), accept });
  const renewed = await call('GET', url, { ...bearer(await at.tool.token([SCOPE.members])), accept });
  await at.renew();

  expect([refused.status, refused.headers.get('www-authenticate'), renewed.status]).toEqual([401, 'Bearer', 200]);
});

test('a service that is set to be busy, to reply with a page or with far too much does so until it is reset', async () => {
  const url = await seven();
  const { manner, received } = at.lms.members;
  manner.set({ status: 429, headers: { 'retry-after': '1' } }, 1);
  const busy = await at.members(url);
  manner.set('html', 1);
  const page = await at.members(url);
  manner.set('huge', 1);
  const huge = await at.members(url);

  expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '1']);
  expect([page.status, page.type, page.body]).toEqual([200, 'text/html', '<h1>Log in</h1>']);
  expect(huge.body.padding.length).toBe(64 * 1024 * 1024);
  expect([(await at.members(url)).status, received.at(-1)]).toEqual([
    200,
    expect.objectContaining({ method: 'GET', url, status: 200 }),
  ]);
});

test('a service that is down ends the connection; one that is slow does not answer', async () => {
  const url = await seven();
  at.lms.members.manner.set('down', 1);
  const down = at.members(url).then(
    () => 'answered',
    () => 'ended',
  );
  expect(await down).toBe('ended');
  at.lms.members.manner.set('slow', 1);
  const gone = new AbortController();
  const slow = fetch(url, { signal: gone.signal }).then(
    () => 'answered',
    () => 'given up',
  );
  const before = at.lms.members.received.length;
  await waitFor('the request', () => at.lms.members.received.length > before);
  expect(await at.members(url)).toMatchObject({ status: 200 });
  gone.abort();

  expect(await slow).toBe('given up');
});
