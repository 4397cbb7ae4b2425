import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { syncHelpers } from '../../../pkg/helper-services/managed-helpers.ts';
import { listen } from '../../../pkg/runtime/ops-server.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { startHelpers } from '../../support/programs/helper-program.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';

const tenants = [serverSuite(), serverSuite(), serverSuite()] as const;
/** A LibreTranslate that holds its answers back. */
const service = fixture(
  async () => {
    const held: (() => void)[] = [];
    const server = createServer((request, response) => {
      const answer = (body: unknown): void => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(body));
      };
      request.resume();
      if (request.url === '/languages') answer(LANGUAGES);
      else held.push(() => answer({ translatedText: ['Hola'] }));
    });
    await listen(server, 0, '127.0.0.1');
    return { held, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  },
  async ({ server }) => {
    server.closeAllConnections();
    server.close();
  },
);
const LANGUAGES = [
  { code: 'en', targets: ['es'] },
  { code: 'es', targets: ['en'] },
];
const helpers = fixture(
  () =>
    startHelpers({
      CARREL_HELPERS_CONCURRENCY: '4',
      CARREL_HELPERS_PROVIDERS: 'libretranslate',
      CARREL_LIBRETRANSLATE_URL: service.url,
    }),
  async (started) => started[Symbol.asyncDispose](),
);

const translate = ({ admin }: TestTenant, text: string) =>
  admin.post('/translate', { text, target_language: 'es', source_language: 'en' });
const slots = async (state: string): Promise<number> =>
  Number(
    new RegExp(`^carrel_helper_slots\\{kind="texts",state="${state}"[^}]*\\} (\\d+)$`, 'm').exec(await helpers.metrics())?.[1],
  );

test('the excess of 200 concurrent translations is refused, and small requesters are answered before large ones', async () => {
  const [many, more, one] = tenants;
  for (const { rows } of tenants) await syncHelpers(rows, [{ kind: 'translate', url: helpers.url, token: null }]);
  // Once the server knows the languages, it calls the translator alone.
  for (const { admin } of tenants) await admin.get('/helpers');
  const order: string[] = [];
  const asked = range(200).map(async (n) => {
    const of = n % 2 === 0 ? 'many' : 'more';
    const { status } = await translate(of === 'many' ? many : more, `text ${n}`);
    if (status === 200) order.push(of);
    return status;
  });
  await waitFor('all places to be taken', async () => (await slots('running')) === 4 && (await slots('waiting')) === 12);
  const single = translate(one, 'one text').then(({ status }) => {
    order.push('one');
    return status;
  });
  await waitFor('the single one to wait', async () => (await slots('waiting')) === 13);
  // They run one after the other while the test watches the turns: replies of concurrent answers may arrive in any order.
  while (!order.includes('one')) {
    const answered = order.length;
    const answer = await waitFor('a text at the service', () => service.held.shift());
    answer();
    await waitFor('its reply', () => order.length > answered);
  }
  const answering = setInterval(() => service.held.shift()?.(), 5);
  const statuses = [await single, ...(await Promise.all(asked))];
  clearInterval(answering);

  expect(statuses[0]).toBe(200);
  const { 200: answered, 503: refused, ...others } = countBy(statuses, (status) => status);
  // Each tenant has at most sixteen in progress, and more once one has ended.
  expect([answered! >= 33, refused! > 0, others]).toEqual([true, true, {}]);
  // Behind what ran, and one of each of the others.
  expect(order.indexOf('one')).toBeLessThanOrEqual(7);
  expect(await slots('running')).toBe(0);
});
