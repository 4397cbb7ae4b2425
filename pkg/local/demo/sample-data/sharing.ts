import type { SampleFiles } from './files.ts';
import { GUESTS, SAMPLE_PASSWORD, type SamplePerson, STUDENTS, TEACHERS } from './people.ts';
import { type Answer, TenantClient } from './tenant-client.ts';

const DAY_MS = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

interface Tenant {
  readonly routerPort: number;
  readonly appUrl: string;
}

/** Adds people in groups, and what they and the administrator share with each other. */
export async function addPeopleAndShares(tenant: Tenant, admin: TenantClient, files: SampleFiles): Promise<void> {
  const add = (people: readonly SamplePerson[]): Promise<Answer[]> =>
    Promise.all(people.map((person) => admin.post('/users', { ...person, password: SAMPLE_PASSWORD })));
  const [teachers, students] = await Promise.all([add(TEACHERS), add(STUDENTS), add(GUESTS)]);
  const [team, learners] = await Promise.all([
    admin.post('/groups', { name: 'Team of the field course', description: 'Who plans it and answers questions' }),
    admin.post('/groups', { name: 'Biology, second year', description: 'Seminar of the winter term' }),
  ]);
  const join = (group: Answer, members: readonly Answer[]): Promise<unknown> =>
    Promise.all(members.map(({ id }) => admin.put(`/groups/${group.id}/members/${id}`)));
  await Promise.all([join(team, teachers), join(learners, students)]);

  const [elif, jonas] = teachers;
  const { course, handIn, thesis, thesisText, lectures, photos } = files;
  await Promise.all([
    admin.post(`/folders/${course.id}/permissions`, { permission_level: 'read', group_id: learners.id }),
    admin.post(`/folders/${course.id}/permissions`, { permission_level: 'write', group_id: team.id }),
    admin.post(`/folders/${thesis.id}/permissions`, { permission_level: 'write', user_id: jonas.id }),
    admin.post(`/files/${lectures[0].id}/share`, {}),
    admin.post(`/files/${photos[2].id}/share`, { expires_at: inDays(30), max_downloads: 25 }),
    admin.post(`/folders/${handIn.id}/share`, { mode: 'upload', expires_at: inDays(14), password: SAMPLE_PASSWORD }),
    admin.post(`/folders/${course.id}/share`, { mode: 'download', expires_at: inDays(60) }),
  ]);
  await Promise.all([addTags(admin, { lectures, photos, thesisText }), shareBack(tenant, admin, { elif, jonas })]);
}

async function addTags(admin: TenantClient, { lectures, photos, thesisText }: Partial<SampleFiles>): Promise<void> {
  const [exam, best, draft] = await Promise.all([
    admin.post('/tags', { name: 'Exam', color: '#c2571a' }),
    admin.post('/tags', { name: 'For the poster', color: '#0f7f7a' }),
    admin.post('/tags', { name: 'Draft', color: '#9a3f93' }),
  ]);
  const mark = (file: Answer, tag: Answer): Promise<unknown> => admin.put(`/files/${file.id}/tags/${tag.id}`);
  await Promise.all([
    ...(lectures ?? []).slice(0, 2).map((file) => mark(file, exam)),
    ...(photos ?? []).slice(2, 5).map((file) => mark(file, best)),
    mark(thesisText, draft),
    admin.put(`/files/${thesisText.id}/metadata/reviewer`, { value: 'Jonas Weber', value_type: 'string' }),
  ]);
}

/** Teachers have files of their own, and share some with the administrator. */
async function shareBack(tenant: Tenant, admin: TenantClient, of: { elif: Answer; jonas: Answer }): Promise<void> {
  const [{ user: me }, elif, jonas] = await Promise.all([
    admin.get('/me'),
    TenantClient.signIn(tenant, { email: of.elif.email, password: SAMPLE_PASSWORD }),
    TenantClient.signIn(tenant, { email: of.jonas.email, password: SAMPLE_PASSWORD }),
  ]);
  const seminar = await elif.post('/folders', { name: 'Seminar on tides' });
  const [poster] = await Promise.all([
    jonas.upload('Poster for the open day.txt', 'Title: What lives where the sea ends\n'),
    elif.upload('Questions.md', '# Questions\n\n1. Why are there two tides a day?\n2. Where is there only one?\n', seminar.id),
    elif.upload('Observations.csv', 'time,level\n06:00,1.2\n12:00,4.8\n18:00,1.1\n', seminar.id),
  ]);
  await Promise.all([
    elif.post(`/folders/${seminar.id}/permissions`, { permission_level: 'write', user_id: me.id }),
    jonas.post(`/files/${poster.id}/permissions`, { permission_level: 'read', user_id: me.id, expires_at: inDays(21) }),
  ]);
}
