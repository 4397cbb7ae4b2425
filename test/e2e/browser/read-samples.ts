import type { TestBrowser } from '../../support/clients/chromium.ts';
import { jobEnd } from '../../support/clients/batches.ts';
import { textPdf } from '../../support/data/pdfs.ts';
import { greyPng, wav } from '../../support/data/small-media.ts';
import { zipBytes } from '../../support/data/zip-bytes.ts';
import { INSTRUCTOR, type Launch, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import type { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { type DemoTenant, waitReady } from '../../support/programs/demo-tenant.ts';
import { apply, type Platform } from '../../support/programs/platform.ts';
import type { Names } from '../../support/clients/accessibility-tree.ts';
import { waitFor } from '../../support/wait.ts';
import { courseShown, registration } from './course.ts';

/** A tenant with one thing of each kind, whose pages read the same in each run. */
export interface ReadSamples {
  readonly folderId: string;
  /** A folder that is empty until `addMore`. */
  readonly essaysId: string;
  readonly jobId: string;
  readonly groupId: string;
  readonly personId: string;
  readonly scheduleId: string;
  readonly webhookId: string;
  readonly registrationId: string;
  readonly courseId: string;
  /** Tokens of links. */
  readonly link: Readonly<Record<'file' | 'locked' | 'download' | 'upload', string>>;
  /** The address of a launch of a person into the course. */
  readonly launch: (as: 'instructor' | 'learner') => string;
  /** Adds, once, what the lists and sums of other pages would show: a recording, a program, an archive and a delivery. */
  readonly addMore: () => Promise<void>;
  /** What differs from run to run. */
  readonly names: Names;
}

export const NOBODY = '00000000-0000-4000-8000-000000000000';
export const PASSWORD = 'four unrelated words';
const A_DAY = new Date('2026-01-05T08:00:00Z');
const COURSE = { id: 'history-1', title: 'History' };
const ADA: Partial<Launch> = {
  course: COURSE,
  user: { id: 'ada', name: 'Ada Okafor', email: 'ada@example.org' },
  roles: [INSTRUCTOR],
};
const BEN: Partial<Launch> = {
  course: COURSE,
  user: { id: 'ben', name: 'Ben Lindqvist', email: 'ben@example.org' },
  roles: [LEARNER],
};

/** Makes them, one after the other: lists show them in the order of their times. */
export async function makeReadSamples(where: Platform, tenant: DemoTenant, lms: Lms, browser: TestBrowser): Promise<ReadSamples> {
  const post = poster(tenant);
  const { body: me } = await tenant.admin.get('/users/me');
  await tenant.admin.patch(`/users/${me.id}`, { display_name: 'Mira Falk' });
  const { folderId, essaysId, planId } = await makeFiles(tenant);
  const people = await makePeople(tenant, { folderId, myId: me.id });

  const tag = await post('/tags', { name: 'Exam', color: '#c2571a' });
  await tenant.admin.put(`/files/${planId}/tags/${tag.id}`, undefined);
  const link = {
    file: (await post(`/files/${planId}/share`, { max_downloads: 25 })).token,
    locked: (await post(`/files/${planId}/share`, { password: PASSWORD })).token,
    download: (await post(`/folders/${folderId}/share`, { mode: 'download' })).token,
    upload: (await post(`/folders/${essaysId}/share`, { mode: 'upload' })).token,
  };
  const webhook = await post('/webhooks', {
    url: `http://receiver.localhost:${where.port}/nothing`,
    events: ['grade.submitted'],
    description: 'Catalogue of the library',
  });
  const schedule = await post('/schedules', {
    name: 'Empty the trash on Sundays',
    kind: 'empty_trash',
    cron: '0 4 * * sun',
    time_zone: 'Europe/Berlin',
  });
  const ofLms = await launchFirst(where, tenant, lms, browser);
  const { id: jobId } = await post('/batch', {
    operation: 'set_metadata',
    items: [planId, NOBODY].map((id) => ({ type: 'file', id })),
    arguments: { key: 'place', value: 'Coast', value_type: 'string' },
  });
  await jobEnd(tenant.admin, jobId);
  let adding: Promise<void> | undefined;
  return {
    folderId,
    essaysId,
    addMore: () => (adding ??= addMore(where, tenant, essaysId)),
    jobId,
    ...people,
    scheduleId: schedule.id,
    webhookId: webhook.id,
    ...ofLms,
    link,
    names: [
      [new URL(tenant.apiUrl).host, 'HOST'],
      ...ofLms.names,
      [`localhost:${where.port}`, 'localhost:PORT'],
      [me.email, 'mira@example.org'],
      [tenant.namespace, 'NAMESPACE'],
      [tenant.name, 'TENANT'],
    ],
  };
}

async function addMore(where: Platform, tenant: DemoTenant, folder_id: string): Promise<void> {
  const { admin, namespace, name } = tenant;
  const put = (file: string, type: string, content: Buffer): Promise<unknown> =>
    admin.upload('/files', { name: file, type, file: content, fields: { folder_id } });
  await put('Bells.wav', 'audio/wav', wav(1));
  await put('Lesson.py', 'text/x-python', Buffer.from('for week in range(3):\n    print(week)\n'));
  await put('Weeks.zip', 'application/zip', zipBytes([{ name: 'week 1.txt', content: 'Plan.' }]));
  const url = `http://receiver.localhost:${where.port}/${namespace}`;
  await apply(where, {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Webhook',
    metadata: { name, namespace },
    spec: { tenantRef: { name }, url, events: ['user.updated'] },
  });
  await waitReady(where, namespace, `webhook/${name}`);
  const { data } = (await admin.get('/webhooks')).body;
  const { id } = data.find((webhook: { url: string }) => webhook.url === url);
  await poster(tenant)(`/webhooks/${id}/test`, { event: 'user.updated' });
  await waitFor('the delivery of the test', async () => {
    const [delivery] = (await admin.get(`/webhooks/${id}/deliveries`)).body.data;
    return delivery?.status === 'delivered';
  });
}

/** Returns how to make something by the first administrator. Throws when it is refused. */
const poster =
  ({ admin }: DemoTenant) =>
  async (path: string, body: object = {}) => {
    const reply = await admin.post(path, body);
    if (reply.status >= 300) throw new Error(`POST ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };

async function makeFiles(tenant: DemoTenant): Promise<{ folderId: string; essaysId: string; planId: string }> {
  const post = poster(tenant);
  const { id: folderId } = await post('/folders', { name: 'Field course' });
  const { id: essaysId } = await post('/folders', { name: 'Essays' });
  const put = async (name: string, type: string, file: Buffer, folder_id?: string): Promise<string> => {
    const { body } = await tenant.admin.upload('/files', {
      name,
      type,
      file,
      fields: folder_id === undefined ? {} : { folder_id },
    });
    return body.id;
  };
  const pdf = await textPdf('A report.', 2);
  // Its length, which pages show, would depend on the time.
  pdf.setCreationDate(A_DAY);
  pdf.setModificationDate(A_DAY);
  await put('Map.png', 'image/png', greyPng(40, 30), folderId);
  await put('Notes.md', 'text/markdown', Buffer.from('# Cells\n\n- one\n- [a site](https://example.org)\n'), folderId);
  await put('Report.pdf', 'application/pdf', Buffer.from(await pdf.save()), folderId);
  const planId = await put('Plan.txt', 'text/plain', Buffer.from('First line\nSecond line\n'));
  const oldId = await put('Old.txt', 'text/plain', Buffer.from('old'));
  await tenant.admin.delete(`/files/${oldId}`);
  return { folderId, essaysId, planId };
}

async function makePeople(
  tenant: DemoTenant,
  { folderId, myId }: { folderId: string; myId: string },
): Promise<{ personId: string; groupId: string }> {
  const post = poster(tenant);
  const { id: personId } = await post('/users', {
    email: 'amara@example.org',
    username: 'amara',
    display_name: 'Amara Nwosu',
    roles: ['member'],
    password: PASSWORD,
  });
  const { id: groupId } = await post('/groups', { name: 'Second year', description: 'Seminar of the winter term' });
  await tenant.admin.put(`/groups/${groupId}/members/${personId}`, undefined);
  await post(`/folders/${folderId}/permissions`, { permission_level: 'read', group_id: groupId });
  const amara = await tenant.anonymous.login('amara@example.org', PASSWORD);
  const { body: file } = await amara.upload('/files', { name: 'Poster.txt', file: Buffer.from('poster') });
  await amara.post(`/files/${file.id}/permissions`, { permission_level: 'read', user_id: myId });
  return { personId, groupId };
}

/** Registers the tenant at an LMS of the test's own, and launches once: that makes the course. */
async function launchFirst(where: Platform, { namespace, name, admin }: DemoTenant, lms: Lms, browser: TestBrowser) {
  const clientId = `client-of-${name}`;
  await apply(where, registration(namespace, name, lms.issuer, clientId));
  await waitReady(where, namespace, `ltiregistration/${name}`);
  const { data } = (await admin.get('/lti/registrations')).body;
  const { body: tool } = await admin.get(`/lti/registrations/${data[0].id}`);
  lms.register({
    clientId,
    deploymentId: '1',
    redirectUris: [tool.redirect_uri],
    loginInitiationUrl: tool.login_initiation_url,
    targetLinkUri: tool.launch_url,
    jwksUrl: tool.jwks_url,
  });
  const launch = (as: 'instructor' | 'learner'): string => lms.open(clientId, as === 'instructor' ? ADA : BEN).href;
  for (const as of ['instructor', 'learner'] as const) {
    const page = await browser.page();
    await page.goto(launch(as));
    await courseShown(page, COURSE.title);
    await page.close();
  }
  const [course] = (await admin.get('/lti/contexts')).body.data;
  const { body: job } = await admin.post(`/lti/contexts/${course.id}/members/sync`, {});
  await jobEnd(admin, job.id);
  const keys: string[] = tool.public_key_ids;
  return {
    registrationId: tool.id as string,
    courseId: course.id as string,
    launch,
    names: [[lms.issuer, 'https://lms.example.org'], ...keys.map((key) => [key, 'KEY'] as const)] as Names,
  };
}
