import { expect, test } from '@jest/globals';
import type { AuditEntry } from '../../../pkg/audit/audit.schema.ts';
import { markCopied } from '../../../pkg/lti/links/course-copies.sql.ts';
import { INSTRUCTOR } from '../../../pkg/local/demo/lms/claims.ts';
import { FACES } from '../../../pkg/local/demo/lms/faces.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { opensLink, placedFor } from '../../support/lms/placed.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { newLink, registered } from '../lti/registering.ts';

const { tenant, at } = lmsSuite();
const entries = async (query: Record<string, string>): Promise<AuditEntry[]> =>
  (await tenant.admin.get('/audit', { query: { sort: 'at', ...query } })).body.data;
/** Returns the content of an entry, without its time and id. */
const said = ({ action, actor, target, changes }: AuditEntry) => ({ action, actor, target: target.name, changes });

test('the audit log says which instructor made a course the copy of another, or that the platform said so', async () => {
  const origin = { id: 'audited-origin', title: 'Origin' };
  const copy = { id: 'audited-copy', title: 'Copy' };
  const teacher = await launched(tenant, at, { user: { id: 'prof' }, roles: [INSTRUCTOR], course: origin });
  const file = (await teacher.api.upload('/files', { name: 'a.txt', file: Buffer.from('x') })).body.id;
  const custom = await placedFor(tenant, at, teacher, file);
  await opensLink(tenant, at, { user: { id: 'prof' }, roles: [INSTRUCTOR], course: copy, custom, resourceLinkId: 'copied' });
  await tenant.db.transaction((tx) => markCopied(tx, at.platformId, 'audited-second', [origin.id]));
  const found = await entries({ action: 'course.adopt' });

  const { data } = (await tenant.admin.get('/lti/contexts')).body as { data: { id: string; lms_id: string }[] };
  const idOf = (lmsId: string) => data.find(({ lms_id }) => lms_id === lmsId)?.id;
  const me = (await teacher.api.get('/users/me')).body;
  const changes = { origin_id: { from: null, to: idOf(origin.id) }, origin_lms_id: { from: null, to: origin.id } };
  expect(found.map(said)).toEqual([
    { action: 'course.adopt', actor: { id: me.id, name: expect.any(String) }, target: 'Copy', changes },
    { action: 'course.adopt', actor: { system: true }, target: 'audited-second', changes },
  ]);
  expect(found.map(({ target, request_id }) => [target.type, target.id, request_id])).toEqual([
    ['group', idOf(copy.id), expect.any(String)],
    ['group', null, null],
  ]);
});

test('the audit log says who made a registration link, and which LMS used it from where, and nothing of its secret', async () => {
  const link = await newLink(tenant, 'Sakai');
  const desk = new RegistrationDesk(at.lms, FACES.sakai);
  const page = await registered(tenant, desk, link);
  const found = await entries({ target_type: 'registration_link' });
  const me = (await tenant.admin.get('/users/me')).body;

  expect(page.status).toBe(200);
  expect(found.map(said)).toEqual([
    {
      action: 'registration_link.create',
      actor: { id: me.id, name: expect.any(String) },
      target: 'Sakai',
      changes: { expires_at: { from: null, to: expect.any(String) } },
    },
    {
      action: 'registration_link.use',
      actor: null,
      target: 'Sakai',
      changes: { issuer: { from: null, to: at.lms.issuer }, client_id: { from: null, to: desk.tools[0]?.clientId } },
    },
  ]);
  expect(found[1]).toMatchObject({ ip: expect.any(String), request_id: expect.any(String), target: { id: found[0]?.target.id } });
  const secret = link.split('/').at(-1) ?? '';
  expect(JSON.stringify(await entries({}))).not.toContain(secret);
});
