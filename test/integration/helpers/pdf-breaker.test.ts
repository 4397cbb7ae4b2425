import { expect, test } from '@jest/globals';
import { pdf } from '../../support/fakes/helpers/pdf.ts';
import { range } from '../../support/wait.ts';
import { platformTenant } from '../../support/suites/worker-suite.ts';
import { configure, converted, pdfSuite, upload } from './pdf-suite.ts';

const FAILURES = 2;
const { platform, tenant, helper } = pdfSuite({ retryMs: [], breaker: { failures: FAILURES, openMs: 600_000 } });
const other = platformTenant(platform);
const PDF = pdf({ padding: 100_000 });

test('the open breaker of one tenant spares another that uses the same helper, and the other kinds of its own', async () => {
  for (const each of [tenant, other]) await configure(each, helper);
  const [mine, theirs] = [await tenant.user(), await other.user()];
  const [own, others] = [await upload(mine.api, PDF), await upload(theirs.api, PDF)];
  await helper.fail('answers 500');
  for (const _ of range(FAILURES)) await converted(mine.api, own, 'optimize');
  await helper.fail(undefined);
  const asked = helper.received.length;

  const refused = await converted(mine.api, own, 'optimize');
  const askedMeanwhile = helper.received.length;
  const done = await converted(theirs.api, others, 'optimize');
  const translated = await converted(mine.api, own, 'translate');

  expect(refused).toMatchObject({
    state: 'failed',
    error: { code: 'helper_unavailable', message: expect.stringContaining('requests to it are paused') },
  });
  expect([asked, askedMeanwhile]).toEqual([FAILURES, FAILURES]);
  expect([done.state, translated.state]).toEqual(['succeeded', 'succeeded']);
});
