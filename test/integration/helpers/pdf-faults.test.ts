import { describe, expect, test } from '@jest/globals';
import { type Clock, systemClock } from '../../../pkg/runtime/clock.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { FAULTS, type Fault } from '../../support/fakes/helpers/helper.ts';
import { pdf } from '../../support/fakes/helpers/pdf.ts';
import { platformTenant } from '../../support/suites/worker-suite.ts';
import { configure, converted, pdfSuite, stateOf, upload } from './pdf-suite.ts';

/** How long a helper may be silent, on a busy machine too; one that hangs, less. The clock knows the limit by its length. */
const SILENCE_MS = 50_000;
let silenceMs = SILENCE_MS;
const clock: Clock = {
  ...systemClock,
  schedule: (ms, run) => systemClock.schedule(ms === SILENCE_MS ? silenceMs : ms, run),
};
const { platform, tenant, helper } = pdfSuite({ retryMs: [], silenceMs: SILENCE_MS, breaker: { failures: 1_000 } }, clock);
const other = platformTenant(platform);
const PDF = pdf({ padding: 100_000 });
const at = fixture(
  async () => {
    const person = await tenant.user();
    return { ...person, id: await upload(person.api, PDF) };
  },
  async () => undefined,
);

const REJECTED: readonly Fault[] = ['answers 422', 'answers 401', 'wrong type', 'garbage', 'no HTTP', 'never ends', 'redirects'];

describe.each(['optimize', 'translate'] as const)('%s by a helper', (how) => {
  test.each(FAULTS)('that %s fails with the right code, and leaves nothing', async (fault) => {
    const { api, id, user } = at;
    await configure(tenant, helper);
    const before = await stateOf(tenant, user.id);
    if (fault === 'never ends') await tenant.restart({ CARREL_MAX_UPLOAD_BYTES: 1_000_000 });
    silenceMs = fault.startsWith('hangs') ? 2_000 : SILENCE_MS;
    await helper.fail(fault);

    const job = await converted(api, id, how);

    const isRejected = REJECTED.includes(fault);
    expect(job).toMatchObject({
      state: 'failed',
      progress: { done: 1, total: 1, failed: 1 },
      result: null,
      error: { code: isRejected ? 'helper_rejected' : 'helper_unavailable' },
    });
    expect(job.error.message).not.toContain('the-token');
    const { data } = (await api.get(`/jobs/${job.id}/items`)).body;
    expect(data).toMatchObject([{ state: 'failed', target: { id, name: 'thesis.pdf' }, error: job.error }]);
    expect(await stateOf(tenant, user.id)).toEqual(before);
    await helper.fail(undefined);
  });
});

test('a PDF goes to the helper of its own tenant, with the token of its own', async () => {
  const [mine, theirs] = [await tenant.user(), await other.user()];
  await configure(tenant, helper, 'mine');
  await configure(other, helper, 'theirs');

  await converted(mine.api, await upload(mine.api, PDF), 'optimize');
  await converted(theirs.api, await upload(theirs.api, PDF), 'optimize');

  expect(helper.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer mine', 'Bearer theirs']);
});
