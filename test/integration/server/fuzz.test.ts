import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { type GeneratedRequest, requestsOf } from '../../support/clients/generated-requests.ts';
import { type Described, type Document, operationsOf, type Schema, schemaChecker } from '../../support/clients/openapi.ts';
import { FUZZED_ROLES, fuzzedTenant, type FuzzedTenant, knownAt } from '../../fuzz/tenant.ts';

/** The short form of `make fuzz`, by a generator of our own. */
const SEED = Number(process.env['SEED'] ?? 20_260_131);
/** Requests of each operation and role. */
const EACH = 5;

/**
 * A 400 to a request of the right form rests on what is stored or on the time (test/fuzz/hooks.py has the same, with reasons).
 */
const OF_STATE = new RegExp(
  `^(${[
    'does not belong to',
    'must be in the future',
    'must be before until',
    'there is no such',
    'must be a user of',
    'must not be the user who',
    'is not a cursor returned by replay',
    'is too deep',
    'needs an e-mail',
    'must be re-sent',
    "must be one of this webhook's",
    'must not be later',
    'makes a path of',
    'must be a string, or value_type',
    'is required, or Upload-Defer-Length',
    'is required without a filter: ',
    'must have (a filename|each key once|values in UTF-8)',
    'must be a media type',
    'must be an IANA time zone',
    'must be cp437 or',
    'is not a language tag',
    'is an integer beyond',
    'cannot be changed',
    'never matches: ',
    '(minute|hour|day of month|month|day of week): the range ',
  ].join('|')})`,
);
/** Fields whose rules no pattern can state. */
const UNSAID: readonly string[] = ['url', 'secret', 'headers'];
/** Arguments alone go by the kind that the schedule has. */
const ofKind = new Set(['putSchedule', 'updateSchedule']);

let fuzzed: FuzzedTenant;
let document: Document;
let check: (schema: Schema, value: unknown) => string;
let callers: Record<(typeof FUZZED_ROLES)[number], Api>;
let known: Record<string, string[]>;
beforeAll(async () => {
  fuzzed = await fuzzedTenant();
  const { tenant, people } = fuzzed;
  document = (await tenant.anonymous.get('/openapi.json')).body as Document;
  check = schemaChecker(document);
  const signIn = (role: (typeof FUZZED_ROLES)[number]): Promise<Api> =>
    tenant.anonymous.login(people[role].email, people[role].password);
  callers = { admin: await signIn('admin'), instructor: await signIn('instructor'), viewer: await signIn('viewer') };
  const made = await Promise.all([
    callers.admin.upload('/files', { name: 'fuzzed.txt', file: Buffer.from('fuzzed') }),
    callers.admin.post('/folders', { name: 'fuzzed' }),
    callers.admin.post('/webhooks', { url: 'https://receiver.example.org/hook', events: ['file.created'] }),
    tenant.user().then(({ user }) => ({ body: user })),
    callers.admin.post('/groups', { name: 'fuzzed' }),
    callers.admin.post('/tags', { name: 'fuzzed' }),
    callers.admin
      .upload('/files', { name: 'shared.txt', file: Buffer.from('shared') })
      .then(({ body }) => callers.admin.post(`/files/${body.id}/share`, {})),
    callers.admin.delete('/trash'),
  ]);
  const [files, folders, webhooks, users, groups, tags, shares, jobs] = made.map(({ body }) => [body.id as string]);
  known = {
    files: files ?? [],
    folders: folders ?? [],
    webhooks: webhooks ?? [],
    users: users ?? [],
    groups: groups ?? [],
    tags: tags ?? [],
    shares: shares ?? [],
    jobs: jobs ?? [],
  };
});
afterAll(() => fuzzed.stop());

/** Ends the caller's session, or asks more of the machine than of the API. */
const LEFT_OUT = new Set(['logout', 'getReferencePage', 'getOpenApiDocument']);

/** Headers of HTTP and its connection, which belong to no operation. */
const OF_HTTP = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'vary',
]);

async function send(caller: Api, { operation, path, query, headers, body }: GeneratedRequest): Promise<ApiReply> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return caller.raw(operation.method.toUpperCase(), path, {
    query,
    headers: {
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      'x-forwarded-for': `10.0.0.${operation.path.length}`,
    },
    ...sent,
  });
}

function faultsOf(operation: Described, fault: string | null, reply: ApiReply): string[] {
  const declared = operation.responses[reply.status];
  // The tenant has no helper services.
  const isMissing = reply.status === 501 && reply.body?.error === 'helper_not_configured';
  if (reply.status >= 500 && !isMissing) return [`a ${reply.status}`];
  if (!declared) return [`${reply.status} is not declared`];
  const content = declared.content?.['application/json'];
  const names = new Set(Object.keys(declared.headers).map((name) => name.toLowerCase()));
  const details = (reply.body?.details ?? []) as { field: string; message: string }[];
  const unsaid = ofKind.has(operation.operationId) ? [...UNSAID, 'arguments'] : [...UNSAID];
  const isOfState = details.every(({ field, message }) => OF_STATE.test(message) || unsaid.includes(field.split('.')[0] ?? ''));
  return [
    ...(content && check(content.schema, reply.body) !== '' ? [`its body: ${check(content.schema, reply.body)}`] : []),
    ...Object.keys(reply.headers)
      .filter((name) => !names.has(name) && !OF_HTTP.has(name))
      .map((name) => `the header ${name} is not declared`),
    ...(fault !== null && reply.status < 400 ? [`it is taken in spite of ${fault}`] : []),
    ...(fault === null && reply.status === 400 && !isOfState ? [`it is refused: ${JSON.stringify(details)}`] : []),
    ...(/invalid|expected|received|too (small|big)|unrecognized/i.test(JSON.stringify(details))
      ? [`words of a library: ${JSON.stringify(details)}`]
      : []),
  ];
}

test(`generated requests of three roles, valid and not, find nothing (SEED=${SEED})`, async () => {
  const found: string[] = [];
  let requests = 0;
  for (const operation of operationsOf(document).filter(({ operationId }) => !LEFT_OUT.has(operationId))) {
    const arbitrary = requestsOf(document, operation, (parameter, path) => {
      const ofCourse = knownAt(fuzzed.known.instructor, path)[parameter];
      if (ofCourse !== undefined) return [ofCourse];
      return parameter === 'id' ? (known[path.split('/')[1] ?? ''] ?? []) : [];
    });
    const samples = fc.sample(arbitrary, { seed: SEED, numRuns: EACH * FUZZED_ROLES.length });
    await Promise.all(
      FUZZED_ROLES.map(async (role, at) => {
        for (const request of samples.slice(at * EACH, (at + 1) * EACH)) {
          const reply = await send(callers[role], request);
          requests += 1;
          for (const fault of faultsOf(operation, request.fault, reply))
            found.push(`${operation.name} as ${role}: ${fault}; sent ${JSON.stringify({ ...request, operation: undefined })}`);
        }
      }),
    );
  }

  expect(found.slice(0, 20)).toEqual([]);
  expect(requests).toBeGreaterThan(500);
});
