import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { syncHelpers } from '../../../pkg/helper-services/managed-helpers.ts';
import { RETRY_MS } from '../../../pkg/helper-services/pdf/pdf.processor.ts';
import type { Fault } from '../../support/fakes/helpers/helper.ts';
import { pdf } from '../../support/fakes/helpers/pdf.ts';
import { addMetadata, tagFiles } from '../../support/data/tags-and-metadata.ts';
import { waitFor } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { quotaOf } from '../content/tenant-state.ts';
import { configure, converted, endOf, pdfSuite, stateOf, upload } from './pdf-suite.ts';

const { tenant, helper } = pdfSuite({ retryMs: [20, 20, 20], breaker: { failures: 1_000 } });
beforeEach(() => configure(tenant, helper));

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const BIG = pdf({ padding: 100_000 });

describe('a PDF that is optimized', () => {
  test('gets the helper’s as its next version, with its quota, its event and its place in the search', async () => {
    const { api, user } = await tenant.user();
    const id = await upload(api, BIG);
    const smaller = pdf({ padding: 50_000 });
    helper.answerWith(smaller);
    await addWebhook(tenant, { events: ['file.updated'] });

    const job = await converted(api, id, 'optimize', { quality: 'low' });

    expect(job).toMatchObject({
      kind: 'optimize',
      subject: { type: 'file', id, name: 'thesis.pdf' },
      state: 'succeeded',
      progress: { done: 1, total: 1, failed: 0, skipped: 0 },
      error: null,
      result: { file_id: id, version_number: 2, size_before: BIG.length, size_after: smaller.length, kept: true },
    });
    expect((await api.get(`/files/${id}/download`)).bytes.equals(smaller)).toBe(true);
    const { data } = (await api.get(`/files/${id}/versions`)).body;
    expect(data.map((version: Record<string, unknown>) => [version['version_number'], version['comment']])).toEqual([
      [2, 'Optimized (low)'],
      [1, null],
    ]);
    expect(await quotaOf(tenant, user.id)).toBe(BIG.length + smaller.length);
    expect((await api.get(`/files/${id}`)).body).toMatchObject({ mime_type: 'application/pdf', size: smaller.length });
    expect((await api.get('/search', { query: { q: 'thesis' } })).body.data.map((found: { id: string }) => found.id)).toContain(
      id,
    );
    expect((await writtenEvents(tenant)).at(-1)).toMatchObject({
      event: 'file.updated',
      data: { id, version: 2, changes: ['content'] },
    });
    expect(helper.received).toEqual([
      expect.objectContaining({
        path: '/optimize',
        headers: expect.objectContaining({ authorization: 'Bearer the-token' }),
        fields: { quality: 'low' },
        file: { name: 'thesis.pdf', type: 'application/pdf', bytes: BIG.length, sha256: sha256(BIG) },
      }),
    ]);
    expect(await stateOf(tenant, user.id)).toMatchObject({ reservations: 0, faults: [] });
  });

  test.each([
    ['5 % and more than 4 KiB', 100_000, 95_000, true],
    ['a byte less than 5 %', 100_000, 95_001, false],
    ['6 %, but less than 4 KiB', 60_000, 56_400, false],
    ['nothing', 100_000, 100_000, false],
    ['less than nothing', 100_000, 150_000, false],
  ])('and is smaller by %s is kept: from %i to %i bytes %s', async (_what, before, after, kept) => {
    const { api, user } = await tenant.user();
    const made = (bytes: number): Buffer => {
      const short = pdf({ padding: bytes - 1_000 });
      return pdf({ padding: bytes - 1_000 + bytes - short.length });
    };
    const id = await upload(api, made(before));
    helper.answerWith(made(after));
    const state = await stateOf(tenant, user.id);

    const { result, state: end } = await converted(api, id, 'optimize');

    expect([end, result]).toEqual([
      'succeeded',
      { file_id: id, version_number: kept ? 2 : 1, size_before: before, size_after: after, kept },
    ]);
    if (!kept) expect(await stateOf(tenant, user.id)).toEqual(state);
  });
});

describe('a PDF that is translated', () => {
  test('becomes a copy beside it with its metadata and the requester’s tags, of a name that is free', async () => {
    const { api, user } = await tenant.user();
    const { body: folder } = await api.post('/folders', { name: 'course' });
    const id = await upload(api, BIG, { folder_id: folder.id });
    await upload(api, BIG, { folder_id: folder.id }, 'thesis (es-MX).pdf');
    await addMetadata(tenant, [id], [{ key: 'course', value: 'history' }]);
    await tagFiles(tenant, user.id, ['mine'], [id]);

    const job = await converted(api, id, 'translate', { target_language: 'ES-mx', source_language: 'EN' });

    expect(job).toMatchObject({
      kind: 'translate',
      target_language: 'es-MX',
      subject: { type: 'file', id, name: 'thesis.pdf' },
      state: 'succeeded',
      result: { version_number: 1 },
    });
    const { body: copy } = await api.get(`/files/${job.result.file_id}`, { query: { include: 'tags,metadata' } });
    expect(copy).toMatchObject({
      name: 'thesis (es-MX) (1).pdf',
      folder: { id: folder.id },
      owner: { id: user.id },
      tags: [{ name: 'mine' }],
      metadata: [{ key: 'course', value: 'history' }],
    });
    expect((await api.get(`/files/${id}`)).body.version).toBe(1);
    expect(helper.received.map(({ path, fields }) => [path, fields])).toEqual([
      ['/translate', { target_lang: 'es', source_lang: 'en' }],
    ]);
  });

  test('by one who may only read it becomes a file of their own root, which they pay for', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const { body: folder } = await ada.api.post('/folders', { name: 'course' });
    const id = await upload(ada.api, BIG, { folder_id: folder.id });
    await ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'read', user_id: bob.user.id });

    const { result } = await converted(bob.api, id, 'translate');

    expect((await bob.api.get(`/files/${result.file_id}`)).body).toMatchObject({
      name: 'thesis (es).pdf',
      folder: null,
      owner: { id: bob.user.id },
    });
    expect([await quotaOf(tenant, ada.user.id), await quotaOf(tenant, bob.user.id)]).toEqual([
      BIG.length,
      pdf({ text: 'converted' }).length,
    ]);
    expect((await ada.api.get(`/files/${result.file_id}`)).status).toBe(404);
  });

  test('becomes its next version where that is asked for', async () => {
    const { api } = await tenant.user();
    const id = await upload(api, BIG);
    const { result } = await converted(api, id, 'translate', { as: 'version' });
    expect(result).toEqual({ file_id: id, version_number: 2 });
  });
});

describe('the request', () => {
  const requests = [
    ['optimize', { quality: 'high' }],
    ['translate', { target_language: 'es', as: 'version' }],
  ] as const;

  test.each(requests)('to %s as a version needs write, and hides what one may not see', async (how, body) => {
    const [ada, bob, eve] = [await tenant.user(), await tenant.user(), await tenant.user()];
    const id = await upload(ada.api, BIG);
    await ada.api.post(`/files/${id}/permissions`, { permission_level: 'read', user_id: bob.user.id });

    const answers = [await bob.api.post(`/files/${id}/${how}`, body), await eve.api.post(`/files/${id}/${how}`, body)];

    expect(answers.map(({ status, body: { error } }) => [status, error])).toEqual([
      [403, 'forbidden'],
      [404, 'not_found'],
    ]);
  });

  test.each([
    ['text that is called a PDF', Buffer.from('no PDF at all'), {}, [415, 'unsupported_media_type']],
    ['an empty file', Buffer.alloc(0), {}, [415, 'unsupported_media_type']],
    ['a signed PDF', pdf({ isSigned: true }), {}, [422, 'pdf_signed']],
    ['a signed PDF, by force', pdf({ isSigned: true }), { force: true }, [202, undefined]],
    ['an encrypted PDF', pdf({ isEncrypted: true }), {}, [422, 'pdf_encrypted']],
    ['an encrypted PDF, by force', pdf({ isEncrypted: true, isSigned: true }), { force: true }, [422, 'pdf_encrypted']],
  ] as const)('to optimize %s', async (_what, content, body, expected) => {
    const { api } = await tenant.user();
    const { status, body: reply } = await api.post(`/files/${await upload(api, content)}/optimize`, body);

    expect([status, reply.error]).toEqual(status === 202 ? [202, null] : expected);
    if (status !== 202) return;
    expect((await endOf(api, reply.id)).state).toBe('succeeded');
    expect(helper.received.map(({ fields }) => fields)).toEqual([{ quality: 'medium', force: 'true' }]);
  });

  test('to translate a signed PDF is taken as a copy, which leaves it as it is', async () => {
    const { api } = await tenant.user();
    const id = await upload(api, pdf({ isSigned: true }));

    expect((await api.post(`/files/${id}/translate`, { target_language: 'es', as: 'version' })).body.error).toBe('pdf_signed');
    expect((await converted(api, id, 'translate')).state).toBe('succeeded');
  });

  test('is a 501 where the tenant has no such helper', async () => {
    const { api } = await tenant.user();
    const id = await upload(api, BIG);
    await syncHelpers(tenant.rows, [{ kind: 'translate', url: helper.url, token: null }]);

    const answers = [
      await api.post(`/files/${id}/optimize`, {}),
      await api.post(`/files/${id}/translate`, { target_language: 'es' }),
    ];

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [501, 'helper_not_configured'],
      [501, 'helper_not_configured'],
    ]);
  });
});

describe('a job', () => {
  test('whose PDF turns out to be signed, far from its end, fails with that, and nothing of it is kept', async () => {
    const { api, user } = await tenant.user();
    const id = await upload(api, pdf({ isSigned: true, padding: 1024 * 1024 }));
    const before = await stateOf(tenant, user.id);

    const job = await converted(api, id, 'optimize');

    expect(job).toMatchObject({ state: 'failed', error: { code: 'pdf_signed' }, progress: { failed: 1 } });
    expect(await stateOf(tenant, user.id)).toEqual(before);
  });

  test('that is canceled ends its transfer soon, and keeps nothing', async () => {
    const { api, user } = await tenant.user();
    const id = await upload(api, BIG);
    const before = await stateOf(tenant, user.id);
    helper.hold();
    const { body: job } = await api.post(`/files/${id}/optimize`, {});
    await waitFor('the helper to be asked', () => helper.received.length === 1);

    const canceled = await api.post(`/jobs/${job.id}/cancel`);
    const at = performance.now();
    await waitFor('the end of the transfer', () => helper.running === 0);

    // Twice a second a worker looks whether its job goes on. If it did not, it would wait for the helper, which never answers.
    expect(performance.now() - at).toBeLessThan(10_000);
    expect([canceled.status, (await api.get(`/jobs/${job.id}`)).body.state]).toEqual([202, 'canceled']);
    expect(await stateOf(tenant, user.id)).toEqual(before);
  });

  test('does not cover a version that came meanwhile', async () => {
    const { api } = await tenant.user();
    const id = await upload(api, BIG);
    const release = helper.hold();
    const { body: job } = await api.post(`/files/${id}/optimize`, {});
    await waitFor('the helper to be asked', () => helper.received.length === 1);
    await api.upload(`/files/${id}`, { method: 'PUT', name: 'x', file: Buffer.from('the newest') });
    release();

    expect(await endOf(api, job.id)).toMatchObject({ state: 'failed', error: { code: 'conflict' } });
    expect((await api.get(`/files/${id}/download`)).bytes.toString()).toBe('the newest');
  });

  test('keeps nothing for one whose right ended meanwhile', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const id = await upload(ada.api, BIG);
    const { body: grant } = await ada.api.post(`/files/${id}/permissions`, { permission_level: 'read', user_id: bob.user.id });
    const release = helper.hold();
    const { body: job } = await bob.api.post(`/files/${id}/translate`, { target_language: 'es' });
    await waitFor('the helper to be asked', () => helper.received.length === 1);
    await ada.api.delete(`/files/${id}/permissions/${grant.id}`);
    const before = await stateOf(tenant, bob.user.id);
    release();

    expect(await endOf(bob.api, job.id)).toMatchObject({ state: 'failed', error: { code: 'not_found' } });
    expect(await stateOf(tenant, bob.user.id)).toEqual(before);
  });

  test('fails where the result is beyond the quota, and is done when it is tried again with more', async () => {
    const { api, user } = await tenant.user({ storage_quota: BIG.length + 1_000 });
    const id = await upload(api, BIG);
    helper.answerWith(pdf({ padding: 50_000 }));
    const before = await stateOf(tenant, user.id);

    const job = await converted(api, id, 'optimize');
    expect(job).toMatchObject({ state: 'failed', error: { code: 'quota_exceeded' }, progress: { failed: 1 } });
    expect(await stateOf(tenant, user.id)).toEqual(before);

    await tenant.admin.patch(`/users/${user.id}`, { storage_quota: 10 * BIG.length });
    const { body: retry } = await api.post(`/jobs/${job.id}/retry`, {});
    expect(await endOf(api, retry.id)).toMatchObject({
      state: 'succeeded',
      retry_of: job.id,
      result: { version_number: 2, kept: true },
    });
  });

  test('is tried four times without a helper, once after a refusal, and done by the first attempt that succeeds', async () => {
    const { api } = await tenant.user();
    const id = await upload(api, BIG);
    const attempts = async (fault: Fault, times?: number): Promise<[number, string]> => {
      const before = helper.received.length;
      await helper.fail(fault, times);
      const { state } = await converted(api, id, 'optimize');
      return [helper.received.length - before, state];
    };

    expect(await attempts('answers 500')).toEqual([4, 'failed']);
    expect(await attempts('answers 422')).toEqual([1, 'failed']);
    expect(await attempts('drops the connection', 2)).toEqual([3, 'succeeded']);
    expect(RETRY_MS).toEqual([1_000, 10_000, 60_000]);
  });

  test('does not take a result larger than a file may be', async () => {
    await tenant.restart({ CARREL_MAX_UPLOAD_BYTES: 200_000 });
    const { api, user } = await tenant.user();
    const id = await upload(api, BIG);
    helper.answerWith({ bytes: 200_001 });
    const before = await stateOf(tenant, user.id);

    expect(await converted(api, id, 'translate')).toMatchObject({ state: 'failed', error: { code: 'helper_rejected' } });
    expect(await stateOf(tenant, user.id)).toEqual(before);
    await tenant.restart();
  });
});
