import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeAll, expect, test } from '@jest/globals';
import { CATALOGUE, type ProblemCode } from '../../../pkg/api/error-catalogue.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import {
  type Described,
  type Document,
  operationsOf,
  parametersOf,
  type Schema,
  schemaChecker,
} from '../../support/clients/openapi.ts';
import type { Cases, Request } from '../../support/operations/case.ts';
import { CASES } from '../../support/operations/cases.ts';
import { type Person, TRANSFERS, World } from '../../support/operations/world.ts';
import { startTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';

/** Errors that every operation may answer. Other tests show these, for all operations or for the code that they share. */
const SHARED = new Set<ProblemCode>([
  'validation_failed',
  'tenant_mismatch',
  'request_timeout',
  'headers_too_large',
  'rate_limit_exceeded',
  'internal',
  'unavailable',
  'suspended',
  'unauthenticated',
  'payload_too_large',
  'unsupported_media_type',
  'idempotency_key_reused',
]);
const NOBODY = randomUUID();

const { tenant, at } = lmsSuite({
  transfers: {
    perPerson: TRANSFERS,
    byLinksOfOwner: TRANSFERS,
    uploadsByLinksOfOwner: TRANSFERS,
    leastBytesPerSecond: 0,
  },
});
const other = fixture(
  () => startTenant(),
  (started) => started.stop(),
);
let document: Document;
let check: (schema: Schema, value: unknown) => string;
let world: World;
let cyd: Person;
let powerless: Api;
beforeAll(async () => {
  document = (await tenant.anonymous.get('/openapi.json')).body as Document;
  check = schemaChecker(document);
  // Links that name an end after these days, or none, are against the policy; others end then.
  await tenant.db.query('INSERT INTO settings (share_links_max_days) VALUES (3650)');
  world = new World(tenant, at, await tenant.user(), await tenant.user());
  cyd = await tenant.user();
  const { user, password } = await tenant.user();
  await tenant.db.query(`UPDATE users SET roles = '{}' WHERE uuid = $1`, [user.id]);
  powerless = await tenant.anonymous.login(user.email, password);
});

interface Operation extends Described {
  readonly cases: Cases;
  /** Errors of its own. */
  readonly codes: readonly ProblemCode[];
}

function operations(): Operation[] {
  return operationsOf(document).map((operation) => {
    const enums = Object.values(operation.responses).flatMap(
      ({ content }) =>
        (content?.['application/json']?.schema.properties as { error?: { enum?: ProblemCode[] } } | undefined)?.error?.enum ?? [],
    );
    const cases = CASES[operation.operationId];
    if (!cases) throw new Error(`${operation.operationId} has no cases in test/support/operations/cases.ts`);
    return { ...operation, cases, codes: enums.filter((code) => !SHARED.has(code)) };
  });
}

const has = (operation: Operation, parameter: string): boolean =>
  parametersOf(document, operation).some(({ name }) => name === parameter);

function send({ method, path }: Described, { by, params = {}, query, headers, body, bytes, form }: Request): Promise<ApiReply> {
  const api = by ?? world.ada.api;
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  if (form) {
    const upload = { file: Buffer.from(form.text), name: form.name, fields: form.fields ?? {}, headers: headers ?? {} };
    return api.upload(address, { ...upload, method: method.toUpperCase() as 'POST' | 'PUT' });
  }
  const text = bytes?.text ?? (body === undefined ? undefined : JSON.stringify(body));
  const type = text === undefined ? {} : { 'content-type': bytes?.type ?? 'application/json' };
  return api.raw(method.toUpperCase(), address, {
    headers: { ...type, ...headers },
    ...(text === undefined ? {} : { body: text }),
    ...(query ? { query } : {}),
  });
}

/** Returns a sentence for each wrong answer of each operation. */
async function wrongAnswers(of: (operation: Operation) => Promise<string[]>): Promise<string[]> {
  const wrong: string[] = [];
  for (const operation of operations()) {
    wrong.push(...(await of(operation)).map((what) => `${operation.operationId}: ${what}`));
    await world.release();
  }
  return wrong;
}

async function unless(code: ProblemCode, sent: Promise<ApiReply>, when: string): Promise<string[]> {
  const { status, body } = await sent;
  const isRight = status === CATALOGUE[code].status && body?.error === code;
  return isRight ? [] : [`${status} ${body?.error ?? ''} in place of ${code} ${when}`];
}

test('every operation succeeds, with a status and a body that the document has', async () => {
  const wrong = await wrongAnswers(async (operation) => {
    const request = await operation.cases.success(world);
    const [{ last } = { last: 0 }] = await tenant.db.query<{ last: number }>(
      'SELECT coalesce(max(id), 0) AS last FROM audit_entries',
    );
    const { status, body } = await send(operation, request);
    const ofNobody = `SELECT action FROM audit_entries WHERE id > $1 AND (is_system OR ip IS NULL OR request_id IS NULL)`;
    const [entry] = await tenant.db.query<{ action: string }>(ofNobody, [last]);
    if (entry) return [`its ${entry.action} stands in the audit log without the request that made it`];
    const declared = operation.responses[String(status)];
    if (status >= 300 || !declared) return [`${status} ${JSON.stringify(body)}`];
    const schema = declared.content?.['application/json']?.schema;
    const fault = schema ? check(schema, body) : '';
    return fault === '' ? [] : [fault];
  });

  expect(wrong).toEqual([]);
});

test('every declared error of an operation is answered, by its own cases or by those of all operations', async () => {
  const wrong = await wrongAnswers(async ({ codes, cases, ...operation }) => {
    const answers: string[] = [];
    for (const code of codes) {
      const make = cases.errors?.[code];
      if (make) answers.push(...(await unless(code, send(operation, await make(world)), 'in its case')));
      else if (!isShown({ ...operation, codes, cases }, code)) answers.push(`no case of ${code}`);
    }
    return answers;
  });

  expect(wrong).toEqual([]);
});

/** Returns true when another test of this file shows the error for this operation. */
function isShown(operation: Operation, code: ProblemCode): boolean {
  if (operation.cases.unseen?.[code] !== undefined) return true;
  // idempotency.test.ts sends two requests with one key at once.
  if (code === 'conflict') return has(operation, 'Idempotency-Key');
  if (code === 'not_found') return operation.path.includes('{');
  if (code === 'forbidden') return !operation.cases.isOpen;
  return code === 'precondition_failed' || code === 'too_many_transfers';
}

test('an id that nobody has is a 404, and so is the id of what the caller may not see', async () => {
  const wrong = await wrongAnswers(async (operation) => {
    const { cases, path } = operation;
    const request = await cases.success(world);
    const answers: string[] = [];
    if (path.includes('{')) {
      const params = Object.fromEntries(Object.keys(request.params ?? {}).map((name) => [name, unknown(name)]));
      answers.push(...(await unless('not_found', send(operation, { ...request, params }), 'for an id of nobody')));
    }
    if (cases.stranger === 'same') return answers;
    const code = cases.stranger ?? 'not_found';
    return [...answers, ...(await unless(code, send(operation, { ...request, by: cyd.api }), 'for a stranger'))];
  });

  expect(wrong).toEqual([]);
});

const unknown = (parameter: string): string | number =>
  ({ number: 999, token: '0'.repeat(64), ticket: 'x', key: 'unknown' })[parameter] ?? NOBODY;

test('a token of another tenant, or none, is a 401; a user without roles may do nothing that needs a permission', async () => {
  const wrong = await wrongAnswers(async (operation) => {
    if (operation.security.length === 0) return [];
    const request = await operation.cases.success(world);
    const answers: string[] = [];
    for (const by of [tenant.anonymous, tenant.anonymous.as(other.admin.token)])
      answers.push(...(await unless('unauthenticated', send(operation, { ...request, by }), 'for a stranger’s token')));
    if (operation.codes.includes('forbidden') && !operation.cases.isOpen)
      answers.push(...(await unless('forbidden', send(operation, { ...request, by: powerless }), 'for a user without roles')));
    return answers;
  });

  expect(wrong).toEqual([]);
});

test('an If-Match that does not match is a 412 wherever it is taken, and a body of another shape is a 400 or 415', async () => {
  const wrong = await wrongAnswers(async (operation) => {
    const answers: string[] = [];
    if (has(operation, 'If-Match')) {
      const request = await operation.cases.success(world);
      answers.push(
        ...(await unless('precondition_failed', send(operation, { ...request, headers: { 'if-match': '"0"' } }), 'for If-Match')),
      );
    }
    const accepted = operation.requestBody?.content;
    if (accepted) {
      const { form: _, bytes: __, ...request } = await operation.cases.success(world);
      const code = accepted['application/json'] ? 'validation_failed' : 'unsupported_media_type';
      answers.push(...(await unless(code, send(operation, { ...request, body: 'a text' }), 'for a text as body')));
    }
    return answers;
  });

  expect(wrong).toEqual([]);
});

/** These PUT and PATCH change no fields: they write content, each time a new version, or the next bytes. */
const NO_FIELDS = ['putFile', 'continueUpload', 'continueUploadByLink'];

test('a PUT or PATCH of the present values changes neither updated_at, etag nor the time of a grant', async () => {
  const changing = new Set<string>();
  const wrong = await wrongAnswers(async (operation) => {
    if (!['put', 'patch'].includes(operation.method) || NO_FIELDS.includes(operation.operationId)) return [];
    changing.add(operation.operationId);
    const request = await operation.cases.success(world);
    const [changed, again] = [await send(operation, request), await send(operation, request)];
    const same = JSON.stringify(changed.body) === JSON.stringify(again.body);
    return same && changed.status < 300 && again.status < 300
      ? []
      : [`${JSON.stringify(changed.body)} became ${JSON.stringify(again.body)}`];
  });

  expect(changing.size).toBeGreaterThan(14);
  expect(wrong).toEqual([]);
});

/** The last activity of a session is that of the request. */
const CHANGES_BY_ITSELF = 'listSessions';

test('each list has an entity tag, and answers 304 to whoever has it already', async () => {
  const lists = new Set<string>();
  const wrong = await wrongAnswers(async (operation) => {
    const { operationId, responses, cases } = operation;
    if (!('Link' in (responses['200']?.headers ?? {}))) return [];
    lists.add(operationId);
    const request = await cases.success(world);
    const first = await send(operation, request);
    const { etag = '' } = first.headers;
    const again = await send(operation, { ...request, headers: { ...request.headers, 'if-none-match': etag } });
    const isKnown = again.status === 304 && again.bytes.length === 0 && again.headers.etag === etag;
    const isOther = operationId === CHANGES_BY_ITSELF && again.status === 200 && again.headers.etag !== etag;
    return isKnown || isOther ? [] : [`${first.status} with ${etag}, then ${again.status} with ${again.headers.etag}`];
  });

  expect(lists.size).toBeGreaterThan(35);
  expect(wrong).toEqual([]);
});

test('a name in another Unicode form, and headers that are stored sealed, are what is there already too', async () => {
  const file = await world.file({ name: 'Am\u00e9lie.txt' });
  const folder = await world.folder({ name: 'Am\u00e9lie' });
  const hook = await world.webhook({ headers: { authorization: 'Bearer a' } });
  const renamed = [
    await world.ada.api.patch(`/files/${file.id}`, { name: 'Ame\u0301lie.txt', folder_id: null }),
    await world.ada.api.patch(`/folders/${folder.id}`, { name: 'Ame\u0301lie', parent_id: null }),
    await tenant.admin.patch(`/webhooks/${hook.id}`, { headers: { authorization: 'Bearer a' } }),
  ];
  const before = await world.ada.api.get(`/files/${file.id}`);

  expect(renamed.map(({ status, body }) => [status, body.etag])).toEqual([
    [200, before.body.etag],
    [200, folder['etag']],
    [200, hook['etag']],
  ]);
  expect(renamed[0]?.body.updated_at).toBe(before.body.updated_at);
  expect((await tenant.admin.patch(`/webhooks/${hook.id}`, { headers: { authorization: 'Bearer b' } })).body.etag).not.toBe(
    hook['etag'],
  );
});

test('a person with as many transfers as one may have at once gets 429 wherever that is declared', async () => {
  const wrong = await wrongAnswers(async (operation) => {
    // Transfers of a share link count against its maker.
    if (!operation.codes.includes('too_many_transfers') || operation.cases.errors?.too_many_transfers) return [];
    // Nobody's downloads that are about to end count to them.
    const fresh = new World(tenant, at, await tenant.user(), world.bob);
    const { body, by = fresh.ada.api, ...request } = await operation.cases.success(fresh);
    const isVersion = operation.operationId === 'putFile';
    const made = isVersion
      ? { ...request, by, form: { name: 'x', text: 'x' } }
      : { ...request, by, ...(body === undefined ? {} : { body }) };
    return whileUploading(fresh.ada.api, () => unless('too_many_transfers', send(operation, made), 'beside others'));
  });

  expect(wrong).toEqual([]);
});

/** While this person uploads as many files as they may at once, none of which ends. */
async function whileUploading<T>(api: Api, work: () => Promise<T>): Promise<T> {
  const gate = Promise.withResolvers<void>();
  async function* bytes(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(1000);
    await gate.promise;
  }
  const before = tenant.observed.sql.length;
  const uploads = range(TRANSFERS).map(() => api.upload('/files', { file: Readable.from(bytes()), name: world.name() }));
  const begun = (): number => tenant.observed.sql.slice(before).filter((sql) => sql.includes('storage_quota')).length;
  try {
    await waitFor('the uploads to begin', () => begun() >= TRANSFERS);
    return await work();
  } finally {
    gate.resolve();
    await Promise.allSettled(uploads);
  }
}
