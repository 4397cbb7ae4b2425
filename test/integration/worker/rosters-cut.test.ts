import { beforeAll, expect, test } from '@jest/globals';
import { INSTRUCTOR } from '../../../pkg/local/demo/lms/claims.ts';
import type { ServiceManner } from '../../../pkg/local/demo/lms/service.ts';
import { startReceiver } from '../../support/fakes/receiver.ts';
import { rosterCourse, type RosterCourse, stateOf } from '../../support/clients/rosters.ts';
import { range } from '../../support/wait.ts';
import { rosterSuite } from './roster-suite.ts';

const { tenant, at } = rosterSuite();

const PAGE = 4;
const PEOPLE = 10;
const PAGES = Math.ceil((PEOPLE + 1) / PAGE);

/** A course whose roster was imported, and which the LMS then changed in each way. */
let course: RosterCourse;
let before = '';
beforeAll(async () => {
  at.lms.members.pageSize = PAGE;
  course = await rosterCourse(tenant, at);
  const { enrol, enrolMany, unenrol, launch, sync } = course;
  await launch({ user: { id: 'p1', name: 'Person 1' } });
  await launch({ user: { id: 'p3', name: 'Person 3' } });
  enrolMany(PEOPLE);
  await sync();
  enrol({ user_id: 'p0', name: 'Renamed' });
  enrol({ user_id: 'p1', roles: [INSTRUCTOR] });
  enrol({ user_id: 'p2', status: 'Inactive' });
  unenrol('p3');
  enrol({ user_id: 'q0', name: 'New' });
  before = await stateOf(tenant, course.id);
});

/** A sync whose requests after the first `page` are answered so. */
async function syncWith(page: number, manner: ServiceManner): Promise<{ state: string; error: { code: string } | null }> {
  at.lms.members.manner.set(manner);
  if (page > 0) at.lms.members.manner.set('well', page);
  return course.sync();
}

async function expectNothing(page: number, manner: ServiceManner): Promise<void> {
  const { state, error } = await syncWith(page, manner);
  expect([JSON.stringify([page, manner]), state, await stateOf(tenant, course.id)]).toEqual([
    JSON.stringify([page, manner]),
    'failed',
    before,
  ]);
  expect(error?.code).toMatch(/^lms_/);
}

/** The bytes of a page. */
const bytesOf = (page: number): number => {
  const members = [...(at.lms.courses.find(course.course.id)?.members.values() ?? [])].slice(page * PAGE, (page + 1) * PAGE);
  const { id, title } = course.course;
  const url = `${at.lms.issuer}/nrps/${id}/members`;
  return Buffer.byteLength(JSON.stringify({ id: url, context: { id, label: id, title }, members }));
};

test.each(range(PAGES))(
  'a roster that is cut in the bytes of page %i changes nothing, whether the connection breaks or the answer ends',
  async (page) => {
    const length = bytesOf(page);
    const points = [0, 1, ...range(5).map((part) => Math.floor((length * (part + 1)) / 6)), length - 2, length - 1];
    for (const [at, cut] of points.entries()) await expectNothing(page, { cut, as: (at + page) % 2 === 0 ? 'ended' : 'lost' });
  },
);

const STATUSES = [201, 202, 204, 206, 301, 302, 304, 400, 401, 403, 404, 410, 418, 429, 500, 502, 503, 504];

test.each(STATUSES.map((status, at) => [at % PAGES, status] as const))(
  'a roster whose page %i has status %i changes nothing',
  async (page, status) => {
    const text = JSON.stringify({ context: { id: course.course.id }, members: [{ user_id: 'q0' }] });
    await expectNothing(page, status === 204 || status === 304 ? { status } : { status, text });
  },
);

test.each<[string, ServiceManner]>([
  ['leads round in a circle', 'link loops'],
  ['goes on without end', 'endless links'],
  ['is a login page', 'html'],
  ['is 64 MiB', 'huge'],
  ['breaks', 'down'],
  ['is of another course', { status: 200, text: '{"context":{"id":"another"},"members":[{"user_id":"p0"}]}' }],
  ['has no members', { status: 200, text: '{"context":{}}' }],
  ['has members that are no list', { status: 200, text: '{"members":{"0":{"user_id":"p0"}}}' }],
  ['is a list', { status: 200, text: '[{"user_id":"p0"}]' }],
  ['is null', { status: 200, text: 'null' }],
  ['is empty', { status: 200, text: '' }],
])('a roster of which the first page, or the last, %s changes nothing', async (_, manner) => {
  for (const page of [0, PAGES - 1]) await expectNothing(page, manner);
});

test('a roster whose next page is at another host changes nothing, and that host is not asked', async () => {
  const receiver = await startReceiver();
  try {
    for (const [at, next] of [receiver.url, 'http://169.254.169.254/latest', 'file:///etc/passwd', 'nowhere at all'].entries())
      await expectNothing(at % PAGES, { next });
    expect(receiver.received).toEqual([]);
  } finally {
    await receiver.close();
  }
});

test('a roster that names nobody changes nothing', async () => {
  for (const members of [[], [{}], [{ user_id: null }, 3]])
    await expectNothing(0, { status: 200, text: JSON.stringify({ members }) });
});

test('and the same roster, read whole, changes all of it', async () => {
  at.lms.members.manner.set('well');
  const { result } = await course.sync();
  const { result: again } = await course.sync();

  expect(result).toEqual({ added: 1, changed: 2, removed: 2, members: PEOPLE });
  expect(again).toEqual({ added: 0, changed: 0, removed: 0, members: PEOPLE });
  expect(await stateOf(tenant, course.id)).not.toBe(before);
});

test('a roster of 20,000 people is taken over, and compared with what is there, in the time that a statement has', async () => {
  const large = await rosterCourse(tenant, at);
  large.enrolMany(20_000);
  at.lms.members.pageSize = 500;
  const first = await large.sync();
  const second = await large.sync().finally(() => (at.lms.members.pageSize = PAGE));

  expect([first.result, second.result]).toEqual([
    { added: 20_000, changed: 0, removed: 0, members: 20_001 },
    { added: 0, changed: 0, removed: 0, members: 20_001 },
  ]);
});
