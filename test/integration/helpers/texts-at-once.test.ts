import { beforeEach, expect, test } from '@jest/globals';
import { syncHelpers } from '../../../pkg/helper-services/managed-helpers.ts';
import { TRANSLATIONS_AT_ONCE } from '../../../pkg/helper-services/text/translations.service.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import { startHelper } from '../../support/fakes/helpers/helper.ts';
import { testFixture } from '../../support/suites/fixture.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, waitFor, within } from '../../support/wait.ts';

const tenant = serverSuite();
const helper = testFixture(startHelper, (running) => running.close());

beforeEach(() => syncHelpers(tenant.rows, [{ kind: 'translate', url: helper.url, token: null }]));

/** A new text each time, so that no cached one is the answer. */
let count = 0;
const newText = (): object => ({ text: `text ${(count += 1)}`, target_language: 'es' });
const translate = (): Promise<ApiReply> => tenant.admin.post('/translate', newText());

test('one translation more at once than may be is refused at once, and the others end', async () => {
  const release = helper.hold();
  const asked = range(TRANSLATIONS_AT_ONCE + 1).map(translate);
  // The helper holds the others: the first reply is the refusal, whichever request it is of.
  const refused = await within('a refusal', Promise.race(asked));
  release();
  const replies = await Promise.all(asked);

  expect([refused.status, refused.body.error, refused.headers['retry-after']]).toEqual([503, 'helper_unavailable', '5']);
  expect(refused.body.message).toContain(`${TRANSLATIONS_AT_ONCE} translations are already in progress`);
  expect(countBy(replies, ({ status }) => status)).toEqual({ 200: TRANSLATIONS_AT_ONCE, 503: 1 });
});

test('a client that leaves ends its own translation, and makes room for another', async () => {
  const release = helper.hold();
  const leave = new AbortController();
  const left = fetch(`${tenant.apiUrl}/translate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.admin.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(newText()),
    signal: leave.signal,
  }).catch(() => undefined);
  await waitFor('the helper to be asked', () => helper.running === 1);
  leave.abort();
  await left;
  await waitFor('the end of its request to the helper, which still holds its reply', () => helper.running === 0);

  const others = range(TRANSLATIONS_AT_ONCE).map(translate);
  // The number of connections that one host has.
  await waitFor('the helper to be asked by others', () => helper.running === 8);
  release();
  expect(countBy(await Promise.all(others), ({ status }) => status)).toEqual({ 200: TRANSLATIONS_AT_ONCE });
});
