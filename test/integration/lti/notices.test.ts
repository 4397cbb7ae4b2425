import { expect, test } from '@jest/globals';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { LaunchErrorCode } from '../../../pkg/lti/launch-error.ts';
import { Browser, follow } from '../../support/lms/browser.ts';
import { LTI } from '../../../pkg/local/demo/lms/claims.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { offersNotices } from '../../../pkg/local/demo/lms/notices.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import { range } from '../../support/wait.ts';

const { tenant, at } = lmsSuite();

const COPY = 'LtiContextCopyNotice';
const copied = (id: string, origins?: unknown) => ({
  [`${LTI}/context`]: { id, title: id },
  ...(origins === undefined ? {} : { [`${LTI}/origin_contexts`]: origins }),
});
const post = (body: unknown) => tenant.anonymous.post(`${tenant.url}/notices`, body);
const jwt = (
  type = COPY,
  claims: Record<string, unknown> = copied('new', ['old']),
  fault: Fault = {},
  clientId = at.clientId,
) => ({
  jwt: at.lms.notice(clientId, type, claims, fault),
});
const stored = () => tenant.db.query<{ id: string }>('SELECT notice_id AS id FROM lti_notices');
const claims = (change: (all: Record<string, unknown>) => void): Fault => ({ claims: change });
const now = (): number => Math.floor(Date.now() / 1000);

test.each<[string, Fault, LaunchErrorCode, Record<string, unknown>?]>([
  // The first that has the key set read, so that the key is in it.
  ['with a key of 1024 bits', { signer: 'weak' }, 'key_unfit'],
  ['of another issuer', claims((all) => (all['iss'] = 'https://stranger.example.org')), 'client_id_unknown'],
  ['for another tool', claims((all) => (all['aud'] = 'stranger')), 'client_id_unknown'],
  ['issued to another tool', claims((all) => (all['azp'] = 'stranger')), 'azp_mismatch'],
  ['for several tools without azp', claims((all) => ((all['aud'] = [all['aud'], 'other']), delete all['azp'])), 'azp_missing'],
  ['with an unpublished key', { signer: 'unpublished' }, 'key_unknown'],
  ['with a key of another under the published id', { signer: 'impostor' }, 'signature_invalid'],
  ['with alg none', { header: (header) => void (header['alg'] = 'none') }, 'alg_refused'],
  ['without kid', { header: (header) => void delete header['kid'] }, 'kid_missing'],
  ['with an unknown extension', { header: (header) => void Object.assign(header, { crit: ['x'], x: 1 }) }, 'crit_refused'],
  ['without signature', { token: (token) => token.replace(/[^.]*$/, '') }, 'signature_invalid'],
  ['that is no JWT', { token: () => 'hello' }, 'id_token_malformed'],
  ['that has expired', claims((all) => Object.assign(all, { iat: now() - 120, exp: now() - 60 })), 'id_token_expired'],
  ['without expiry', claims((all) => delete all['exp']), 'exp_missing'],
  ['of the future', claims((all) => Object.assign(all, { iat: now() + 120, exp: now() + 180 })), 'iat_in_future'],
  ['without time of issue', claims((all) => delete all['iat']), 'iat_missing'],
  ['of LTI 1.1', claims((all) => (all[`${LTI}/version`] = '1.1')), 'version_unsupported'],
  ['without deployment', claims((all) => delete all[`${LTI}/deployment_id`]), 'deployment_id_missing'],
  ['of an unknown deployment', claims((all) => (all[`${LTI}/deployment_id`] = '2')), 'unknown_deployment'],
  ['without notice', claims((all) => delete all[`${LTI}/notice`]), 'notice_id_missing'],
  ['without id', claims((all) => (all[`${LTI}/notice`] = { type: COPY })), 'notice_id_missing'],
  [
    'with an id of 256 characters',
    claims((all) => (all[`${LTI}/notice`] = { id: 'x'.repeat(256), type: COPY })),
    'notice_id_missing',
  ],
  ['without type', claims((all) => (all[`${LTI}/notice`] = { id: 'untyped' })), 'notice_type_missing'],
  [
    'of a type that was not asked for',
    claims((all) => (all[`${LTI}/notice`] = { id: 'asset', type: 'LtiAssetProcessorSubmissionNotice' })),
    'notice_type_unsupported',
  ],
  ['of a copy that names no course', claims((all) => delete all[`${LTI}/context`]), 'notice_context_missing'],
  ['of a copy whose origins are no list', claims((all) => (all[`${LTI}/origin_contexts`] = 'old')), 'notice_origins_invalid'],
  [
    'of a copy with an origin that is no id',
    claims((all) => (all[`${LTI}/origin_contexts`] = ['old', 7])),
    'notice_origins_invalid',
  ],
  [
    'of a copy with 101 origins',
    claims((all) => (all[`${LTI}/origin_contexts`] = range(101).map(String))),
    'notice_origins_invalid',
  ],
])('a notice %s is refused with its own code, in JSON, and leaves nothing', async (_what, fault, code) => {
  const before = (await stored()).length;

  const reply = await post({ notices: [jwt(COPY, copied('new', ['old']), fault)] });

  expect([reply.body.error, reply.status >= 400 && reply.status < 500]).toEqual([code, true]);
  expect(reply.body.message).toMatch(/\.$/);
  expect((await stored()).length).toBe(before);
});

test.each<[string, unknown, string]>([
  ['no list', { notices: 'x' }, 'notices_invalid'],
  ['an empty list', { notices: [] }, 'notices_invalid'],
  ['101 notices', { notices: range(101).map(() => ({ jwt: 'x' })) }, 'notices_invalid'],
  ['a notice without jwt', { notices: [{ token: 'x' }] }, 'notices_invalid'],
  ['null', null, 'notices_invalid'],
])('a body with %s is refused', async (_what, body, code) => {
  const reply = await post(body);

  expect([reply.status, reply.body.error]).toEqual([400, code]);
});

test('a form, as a browser would post it from another site, is refused', async () => {
  const page = await new Browser().post(`${tenant.url}/notices`, new URLSearchParams({ notices: '[]' }));

  expect([page.status, JSON.parse(page.text).error]).toEqual([415, 'unsupported_media_type']);
});

test('notices of a registration that is inactive are refused', async () => {
  const other = await registeredLms(tenant, at);
  await tenant.db.tables.ltiTools.update({ id: other.toolId }, { isActive: false });

  const reply = await post({ notices: [jwt(COPY, copied('new', ['old']), {}, other.clientId)] });

  expect([reply.status, reply.body.error]).toEqual([403, 'client_id_unknown']);
});

test('a notice is answered once it is stored with its job, by two statements; sent again, it counts once', async () => {
  const id = systemRandom.uuid();
  const notice = jwt(COPY, { ...copied('new', ['old']), [`${LTI}/notice`]: { id, type: COPY, timestamp: 'yesterday' } });
  await post({ notices: [jwt()] }); // reads the key set of the LMS

  const { reply, sql } = await tenant.counting(() => post({ notices: [notice] }));
  const again = await Promise.all(range(10).map(() => post({ notices: [notice, notice] })));

  expect([reply.status, reply.body, sql.length]).toEqual([200, { accepted: 1, refused: [] }, 2]);
  expect(new Set(again.map(({ status }) => status))).toEqual(new Set([200]));
  expect(
    await tenant.db.query('SELECT notice_id, context_id, origin_ids, noticed_at FROM lti_notices WHERE notice_id = $1', [id]),
  ).toEqual([{ notice_id: id, context_id: 'new', origin_ids: ['old'], noticed_at: null }]);
  const jobs = await tenant.db.query(
    `SELECT FROM carrel.work WHERE tenant = current_user AND kind = 'lti.notice' AND payload ->> 'notice' = $1`,
    [id],
  );
  expect(jobs).toHaveLength(1);
});

test('valid notices are stored beside invalid ones, since platforms do not send again', async () => {
  const reply = await post({ notices: [{ jwt: 'hello' }, jwt(), jwt('LtiHelloWorldNotice', {}), jwt(COPY, copied('new'))] });

  expect([reply.status, reply.body]).toEqual([
    200,
    { accepted: 3, refused: [{ notice: 0, error: 'id_token_malformed', message: expect.any(String) }] },
  ]);
});

test('the first launch of a deployment requests its notices by one job; warm launches cost nothing more', async () => {
  const own = await registeredLms(tenant, at);
  const opens = (id: string) => follow(new Browser(), at.lms.open(own.clientId, { user: { id } }, offersNotices(at.lms.issuer)));
  const jobs = () =>
    tenant.db.query<{ payload: unknown }>(
      `SELECT payload FROM carrel.work WHERE tenant = current_user AND kind = 'lti.notice-handler' AND payload ->> 'tool' = $1`,
      [String(own.toolId)],
    );

  const first = await Promise.all(range(10).map((index) => opens(`early-${index}`)));
  const { reply, sql } = await tenant.counting(() => opens('early-0'));

  expect([...first, reply].every(({ status }) => status === 303)).toBe(true);
  expect(sql).toHaveLength(2);
  expect(await jobs()).toEqual([{ payload: { tool: own.toolId, deployment: '1', handler: `${tenant.url}/notices` } }]);
});

test('a platform that sends none of the notices that are processed is not asked', async () => {
  const own = await registeredLms(tenant, at);
  const fault = offersNotices(at.lms.issuer, ['LtiAssetProcessorSubmissionNotice']);

  await follow(new Browser(), at.lms.open(own.clientId, { user: { id: 'elsewhere' } }, fault));

  expect(await tenant.db.query('SELECT FROM lti_notice_handlers WHERE tool_id = $1', [own.toolId])).toEqual([]);
});
