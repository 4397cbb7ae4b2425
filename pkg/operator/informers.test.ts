import { afterEach, expect, test } from '@jest/globals';
import { type Hostile, hostile, json, refusal, stream } from '../../test/support/fakes/hostile.ts';
import { waitFor } from '../../test/support/wait.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { silentLogger as log } from '../runtime/log.ts';
import { systemRandom as random } from '../runtime/random.ts';
import { allInformers, createInformers, missingLists } from './informers.ts';

let server: Hostile;
const stopping = new AbortController();
afterEach(async () => {
  stopping.abort();
  await server.close();
});

test('kinds whose custom resources are not installed are named', async () => {
  const quiet = stream([], () => undefined);
  server = await hostile((request, response, body) => {
    const url = request.url ?? '';
    const isMissing = /\/apis\/(carrel\.dev|gateway\.networking\.k8s\.io)\//.test(url);
    const answer = isMissing
      ? refusal(404, 'NotFound')
      : url.includes('watch=true')
        ? quiet
        : json({ metadata: { resourceVersion: '1' }, items: [] });
    answer(request, response, body);
  });
  const informers = createInformers({ client: server.client, clock, random, log, metrics: server.metrics }, []);

  for (const each of allInformers(informers)) void each.run(stopping.signal);
  const missing = await waitFor('the others', () => {
    const found = missingLists(informers);
    return found.length <= 3 && found;
  });

  expect(missing).toEqual(['Tenant', 'LtiRegistration', 'Webhook']);
});
