import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { ROOT } from '../../support/backends/backends.ts';
import { type Document, operationsOf, parametersOf } from '../../support/clients/openapi.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { zipBytes } from '../../support/data/zip-bytes.ts';
import { syncHelpers } from '../../../pkg/helper-services/managed-helpers.ts';
import { pdf } from '../../support/fakes/helpers/pdf.ts';

const tenant = serverSuite();

const create = (key: string, name: string, by = tenant.admin): Promise<ApiReply> =>
  by.post('/users', { email: `${name}@idempotent.example`, username: name }, { headers: { 'idempotency-key': key } });

/** The preparation and the successful request of each POST that heeds the header. A new operation is added here. */
const SUCCEEDS: Readonly<Record<string, () => Promise<(key: string) => Promise<ApiReply>>>> = {
  createUser: async () => (key) => create(key, 'walked'),
  createFolder: async () => (key) => tenant.admin.post('/folders', { name: 'walked' }, keyed(key)),
  createGroup: async () => (key) => tenant.admin.post('/groups', { name: 'walked' }, keyed(key)),
  createTag: async () => (key) => tenant.admin.post('/tags', { name: 'walked' }, keyed(key)),
  uploadFile: async () => (key) => tenant.admin.upload('/files', { name: 'walked.txt', file: Buffer.from('x'), ...keyed(key) }),
  createUpload: async () => (key) =>
    tenant.admin.raw('POST', '/files/uploads', {
      headers: { 'tus-resumable': '1.0.0', 'upload-length': '5', 'upload-metadata': 'filename d2Fsa2Vk', 'idempotency-key': key },
    }),
  copyFile: async () => {
    const { id } = await file('copied.txt');
    return (key) => tenant.admin.post(`/files/${id}/copy`, { name: 'copy.txt' }, keyed(key));
  },
  restoreFile: async () => {
    const { id } = await file('restored.txt');
    await tenant.admin.delete(`/files/${id}`);
    return (key) => tenant.admin.post(`/files/${id}/restore`, undefined, keyed(key));
  },
  restoreVersion: async () => {
    const { id } = await file('versions.txt');
    await tenant.admin.upload(`/files/${id}`, { method: 'PUT', name: 'versions.txt', file: Buffer.from('second') });
    return (key) => tenant.admin.post(`/files/${id}/versions/1/restore`, {}, keyed(key));
  },
  restoreFolder: async () => {
    const { body } = await tenant.admin.post('/folders', { name: 'restored' });
    await tenant.admin.delete(`/folders/${body.id}`);
    return (key) => tenant.admin.post(`/folders/${body.id}/restore`, undefined, keyed(key));
  },
  createShare: async () => {
    const { id } = await file('shared.txt');
    return (key) => tenant.admin.post(`/files/${id}/share`, {}, keyed(key));
  },
  createFolderShare: async () => {
    const { body } = await tenant.admin.post('/folders', { name: 'shared' });
    return (key) => tenant.admin.post(`/folders/${body.id}/share`, {}, keyed(key));
  },
  createFilePermission: async () => {
    const [{ id }, { user }] = [await file('granted.txt'), await tenant.user()];
    return (key) => tenant.admin.post(`/files/${id}/permissions`, { user_id: user.id, permission_level: 'read' }, keyed(key));
  },
  createFolderPermission: async () => {
    const [{ body }, { user }] = [await tenant.admin.post('/folders', { name: 'granted' }), await tenant.user()];
    return (key) =>
      tenant.admin.post(`/folders/${body.id}/permissions`, { user_id: user.id, permission_level: 'read' }, keyed(key));
  },
  copyFolder: async () => {
    const { body } = await tenant.admin.post('/folders', { name: 'copied' });
    return (key) => tenant.admin.post(`/folders/${body.id}/copy`, { name: 'copy' }, keyed(key));
  },
  optimizeFile: async () => {
    const id = await pdfFile();
    return (key) => tenant.admin.post(`/files/${id}/optimize`, {}, keyed(key));
  },
  translateFile: async () => {
    const id = await pdfFile();
    return (key) => tenant.admin.post(`/files/${id}/translate`, { target_language: 'es' }, keyed(key));
  },
  createExport: async () => {
    const { body } = await tenant.admin.post('/folders', { name: 'exported' });
    return (key) => tenant.admin.post('/exports', { folder_id: body.id }, keyed(key));
  },
  createBatch: async () => {
    const { body } = await tenant.admin.post('/folders', { name: 'batched' });
    const items = [{ type: 'folder', id: body.id }];
    return (key) => tenant.admin.post('/batch', { operation: 'delete', items }, keyed(key));
  },
  decideDeployment: async () => {
    const [tool] = await tenant.db.query<{ uuid: string }>(
      `WITH lms AS (INSERT INTO lti_platforms (issuer, auth_endpoint, token_endpoint, jwks_endpoint)
         VALUES ('https://lms.example', '', '', '') RETURNING id)
       INSERT INTO lti_tools (client_id, consumer_key, tool_url, platform_id, deployment_policy)
       SELECT '1', '1', '', id, 'Confirm' FROM lms RETURNING uuid`,
    );
    return (key) =>
      tenant.admin.post(`/lti/registrations/${tool?.uuid}/deployments`, { deployment_id: '7', status: 'admitted' }, keyed(key));
  },
  createSchedule: async () => (key) => tenant.admin.post('/schedules', NIGHTLY, keyed(key)),
  runSchedule: async () => {
    const { body } = await tenant.admin.post('/schedules', NIGHTLY);
    return (key) => tenant.admin.post(`/schedules/${body.id}/run`, undefined, keyed(key));
  },
  createImport: async () => {
    const archive = { name: 'idempotent.zip', file: zipBytes([{ name: 'a.txt', content: 'a' }]) };
    const { body } = await tenant.admin.upload('/files', archive);
    return (key) => tenant.admin.post('/imports', { file_id: body.id }, keyed(key));
  },
  cancelJob: async () => {
    const { body } = await tenant.admin.delete('/trash');
    return (key) => tenant.admin.post(`/jobs/${body.id}/cancel`, undefined, keyed(key));
  },
  retryJob: async () => {
    const { body } = await tenant.admin.delete('/trash');
    await tenant.db.query(
      `WITH ended AS (UPDATE tasks SET state = 'succeeded', total = 1, done = 1, failed = 1, ended_at = now() WHERE uuid = $1
         RETURNING id)
       INSERT INTO task_items (task_id, rank, target_type, target, target_name, state)
       SELECT id, 0, 'file', gen_random_uuid(), 'a', 'failed' FROM ended`,
      [body.id],
    );
    return (key) => tenant.admin.post(`/jobs/${body.id}/retry`, undefined, keyed(key));
  },
  testWebhook: async () => {
    const id = await webhook();
    return (key) => tenant.admin.post(`/webhooks/${id}/test`, {}, keyed(key));
  },
  replayDeliveries: async () => {
    const id = await webhook();
    return (key) => tenant.admin.post(`/webhooks/${id}/replay`, { since: '2026-01-01T00:00:00Z' }, keyed(key));
  },
  createReplay: async () => {
    const [id, since] = [await webhook(), new Date(Date.now() - 60_000).toISOString()];
    return (key) => tenant.admin.post(`/webhooks/${id}/replays`, { since }, keyed(key));
  },
  replayDelivery: async () => {
    const id = await webhook();
    const { body } = await tenant.admin.post(`/webhooks/${id}/test`, {});
    return (key) => tenant.admin.post(`/webhooks/${id}/deliveries/${body.id}/replay`, undefined, keyed(key));
  },
};
/** Operations whose replies show a secret. */
const SECRETS: typeof SUCCEEDS = {
  createTicket: async () => {
    const { id } = await file(randomUUID());
    return (key) => tenant.admin.post(`/files/${id}/ticket`, undefined, keyed(key));
  },
  createVersionTicket: async () => {
    const { id } = await file(randomUUID());
    return (key) => tenant.admin.post(`/files/${id}/versions/1/ticket`, undefined, keyed(key));
  },
  createFolderTicket: async () => {
    const { body } = await tenant.admin.post('/folders', { name: randomUUID() });
    return (key) => tenant.admin.post(`/folders/${body.id}/ticket`, undefined, keyed(key));
  },
  createPasswordReset: async () => {
    const { user } = await tenant.user();
    return (key) => tenant.admin.post(`/users/${user.id}/password-reset`, undefined, keyed(key));
  },
  createRegistrationLink: async () => (key) => tenant.admin.post('/lti/registration-links', {}, keyed(key)),
  createWebhook: async () => (key) =>
    tenant.admin.post('/webhooks', { url: 'https://receiver.example.org/hook', events: ['file.created'] }, keyed(key)),
  rotateWebhookSecret: async () => {
    const id = await webhook();
    return (key) => tenant.admin.post(`/webhooks/${id}/secret`, {}, keyed(key));
  },
};
const NIGHTLY = { name: 'Nightly', kind: 'recount_usage', cron: '0 3 * * *' };
const keyed = (key: string): { headers: Record<string, string> } => ({ headers: { 'idempotency-key': key } });
const file = async (name: string): Promise<{ id: string }> =>
  (await tenant.admin.upload('/files', { name, file: Buffer.from('x') })).body;
/** A PDF, where the tenant has helpers; nobody asks them. */
const pdfFile = async (): Promise<string> => {
  const kinds = ['pdf_optimize', 'pdf_translate'] as const;
  await syncHelpers(
    tenant.rows,
    kinds.map((kind) => ({ kind, url: 'https://helper.example.org', token: null })),
  );
  return (await tenant.admin.upload('/files', { name: `${randomUUID()}.pdf`, file: pdf() })).body.id;
};
const webhook = async (): Promise<string> =>
  (await tenant.admin.post('/webhooks', { url: 'https://receiver.example.org/hook', events: ['file.created'] })).body.id;

/**
 * Need a launch: grades.test.ts, line-items.test.ts, members.test.ts, results.test.ts and deep-linking-refusals.test.ts of
 * test/integration/lti send them twice.
 */
const ELSEWHERE = ['answerPicker', 'createGrade', 'createLineItem', 'createScore', 'handIn', 'retryGrade', 'syncCourseMembers'];

test('every POST whose description has the header gives the first reply again, and no other POST has it', async () => {
  const document = (await tenant.anonymous.get('/openapi.json')).body as Document;
  const posts = operationsOf(document).filter(({ method }) => method === 'post');
  const heeding = posts.filter((operation) => parametersOf(document, operation).some(({ name }) => name === 'Idempotency-Key'));
  const answers: unknown[] = [];
  for (const { operationId } of heeding.filter((each) => !ELSEWHERE.includes(each.operationId))) {
    const succeeds = { ...SUCCEEDS, ...SECRETS }[operationId];
    if (!succeeds) throw new Error(`${operationId} heeds Idempotency-Key: say in SUCCEEDS how it is brought to succeed`);
    const send = await succeeds();
    const [first, again] = [await send(`walk-${operationId}`), await send(`walk-${operationId}`)];
    const same = JSON.stringify(first.body) === JSON.stringify(again.body);
    answers.push([
      operationId,
      first.status < 300,
      first.status === again.status,
      same,
      first.headers['idempotency-replayed'],
      again.headers['idempotency-replayed'],
    ]);
  }

  expect(answers).toEqual(answers.map((answer) => [(answer as string[])[0], true, true, true, undefined, 'true']));
  // Without a token a key is nobody's; a change of one's password makes nothing, and its body would leave a hash of it
  // (docs/use-the-api.md).
  expect(
    posts
      .filter((operation) => !heeding.includes(operation))
      .map(({ operationId }) => operationId)
      .sort(),
  ).toEqual([
    'changePassword',
    'createUploadByLink',
    'downloadSharedFileWithPassword',
    'login',
    'logout',
    'refreshSession',
    'resetPassword',
    'translateText',
    'uploadByLink',
  ]);
});

test('docs/use-the-api.md names the POSTs that do not heed the header', async () => {
  const document = (await tenant.anonymous.get('/openapi.json')).body as Document;
  const heedless = operationsOf(document).filter(
    (operation) =>
      operation.method === 'post' && !parametersOf(document, operation).some(({ name }) => name === 'Idempotency-Key'),
  );
  const page = readFileSync(join(ROOT, 'docs/use-the-api.md'), 'utf8');
  const [, section = ''] = /^## Send a request again safely\n([\s\S]*?)^## /m.exec(page) ?? [];
  const [named = ''] = section.split('\n').filter((line) => line.includes('no effect'));

  expect(new Set([...named.matchAll(/`(?:POST )?(\/[^`]+)`/g)].map(([, path]) => path))).toEqual(
    new Set(heedless.map(({ path }) => path)),
  );
});

test('a reply with a secret is stored sealed: the database has neither the secret nor a download’s address', async () => {
  const secrets: string[] = [];
  for (const [name, succeeds] of Object.entries(SECRETS)) {
    const { body } = await (await succeeds())(`secret-${name}`);
    secrets.push(body.secret ?? body.token ?? body.url);
  }
  const rows = await tenant.db.query<{ body: string }>(`SELECT body FROM idempotency_keys WHERE key LIKE 'secret-%'`);

  expect(rows).toHaveLength(secrets.length);
  expect(secrets.every((secret) => secret.length > 20)).toBe(true);
  expect(rows.map(({ body }) => body.split('.')[0])).toEqual(secrets.map(() => 'v1'));
  expect(rows.filter(({ body }) => secrets.some((secret) => body.includes(secret)))).toEqual([]);
});

test('a stored reply that no key opens any more is a 409, and the request is not done again', async () => {
  const send = await (SECRETS['createPasswordReset'] as NonNullable<(typeof SECRETS)[string]>)();
  await send('secret-lost');
  const [other] = await tenant.db.query<{ body: string }>(`SELECT body FROM idempotency_keys WHERE key = 'secret-createTicket'`);
  await tenant.db.query(`UPDATE idempotency_keys SET body = $1 WHERE key = 'secret-lost'`, [other?.body]);
  const tokens = (): Promise<unknown[]> => tenant.db.query('SELECT token_hash FROM password_resets ORDER BY user_id');
  const before = await tokens();

  const again = await send('secret-lost');

  expect([again.status, again.body.error]).toEqual([409, 'conflict']);
  expect(await tokens()).toEqual(before);
});
