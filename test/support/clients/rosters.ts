import type { Page } from '../../../pkg/api/paging.ts';
import type { MemberView } from '../../../pkg/lti/members/members.schema.ts';
import type { Api } from './api.ts';
import { INSTRUCTOR, type Launch, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import type { Member } from '../../../pkg/local/demo/lms/courses.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { launched } from '../lms/launched.ts';
import type { Registration } from '../lms/registration.ts';
import type { TestTenant } from '../programs/server.ts';
import { range, waitFor } from '../wait.ts';

/** A course of its own, with an instructor. */
export interface RosterCourse {
  /** The instructor's. */
  readonly api: Api;
  readonly course: { readonly id: string; readonly title: string };
  readonly id: string;
  /** The LMS's id of the instructor. */
  readonly teacher: string;
  /** Path of its members. */
  readonly members: string;
  /** Requests a sync, by the instructor; gives its job. */
  request(by?: Api): Promise<{ id: string }>;
  /** Requests a sync, and returns the job once it has ended. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the body of a reply
  sync(by?: Api): Promise<any>;
  people(query?: Record<string, string>): Promise<readonly MemberView[]>;
  launch(opened?: Partial<Launch>): ReturnType<typeof launched>;
  enrol(member: Partial<Member> & Pick<Member, 'user_id'>): void;
  /** Learners p0, p1 … */
  enrolMany(count: number): void;
  unenrol(userId: string): void;
}

let courses = 0;

export async function rosterCourse(tenant: TestTenant, at: Registration, fault: Fault = {}): Promise<RosterCourse> {
  const id = `roster-${(courses += 1)}`;
  const course = { id, title: id };
  const teacher = { id: `teacher-${courses}` };
  const { api } = await launched(tenant, at, { course, user: teacher, roles: [INSTRUCTOR] }, fault);
  const { data } = (await tenant.admin.get('/lti/contexts', { query: { limit: '200' } })).body;
  const uuid = data.find((context: { lms_id: string }) => context.lms_id === id).id;
  const members = `/lti/contexts/${uuid}/members`;
  const request: RosterCourse['request'] = async (by = api) => {
    const reply = await by.post(`${members}/sync`);
    if (reply.status !== 202) throw new Error(`no sync: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const enrol: RosterCourse['enrol'] = (member) => at.lms.courses.enrol(course, { roles: [LEARNER], ...member });
  return {
    api,
    course,
    id: uuid,
    teacher: teacher.id,
    members,
    request,
    sync: async (by = api) => ended(by, (await request(by)).id),
    people: (query) => allMembers(api, members, query),
    launch: (opened = {}) => launched(tenant, at, { course, ...opened }),
    enrol,
    enrolMany: (count) => {
      for (const at of range(count)) enrol({ user_id: `p${at}`, name: `Person ${at}`, email: `p${at}@example.org` });
    },
    unenrol: (userId) => at.lms.courses.unenrol(id, userId),
  };
}

/** The job, once it has ended. */
export const ended = (by: Api, id: string) =>
  waitFor('the end of the job', async () => {
    const { body } = await by.get(`/jobs/${id}`);
    return body.ended_at !== null && body;
  });

async function allMembers(api: Api, path: string, query: Record<string, string> = {}): Promise<MemberView[]> {
  const found: MemberView[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { status, body } = await api.get(path, {
      query: { limit: '200', ...query, ...(cursor === undefined ? {} : { cursor }) },
    });
    if (status !== 200) throw new Error(`no list: ${status} ${JSON.stringify(body)}`);
    const page = body as Page<MemberView>;
    found.push(...page.data);
    cursor = page.pagination.next_cursor;
  }
  return found;
}

/** All that a roster can change of a course, as text. */
export async function stateOf({ db }: TestTenant, context: string): Promise<string> {
  const of = 'WHERE group_id = (SELECT id FROM groups WHERE uuid = $1)';
  const states = await Promise.all(
    [
      `SELECT subject, name, email, roles, role, is_active, source FROM lti_members ${of} ORDER BY subject`,
      `SELECT user_id, role FROM group_members ${of} ORDER BY user_id`,
      `SELECT p.user_id, p.permission_level FROM permissions p WHERE p.resource_type = 'folder' AND p.resource_id IN (
         SELECT resource_id FROM permissions ${of}) ORDER BY p.id`,
      'SELECT roster_synced_at FROM groups WHERE uuid = $1',
      'SELECT roles FROM users WHERE $1::uuid IS NOT NULL ORDER BY id',
    ].map((sql) => db.query(sql, [context])),
  );
  return JSON.stringify(states);
}
