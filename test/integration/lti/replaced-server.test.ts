import { expect, test } from '@jest/globals';
import { startServerProcess } from '../../faults/server-process.ts';
import { Browser, type PageShown, toTheForm } from '../../support/lms/browser.ts';
import { INSTRUCTOR } from '../../../pkg/local/demo/lms/claims.ts';
import { FACES } from '../../../pkg/local/demo/lms/faces.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { delivered, picking } from '../../support/lms/picked.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { freePort } from '../../support/backends/ports.ts';
import { countBy, range } from '../../support/wait.ts';
import { newLink, pressed, shownPage } from './registering.ts';

const { tenant, at } = lmsSuite();

/** A launch up to the form that the browser is about to post. */
async function aboutToLaunch(lms: Lms, clientId: string): Promise<() => Promise<PageShown>> {
  const browser = new Browser();
  const form = await toTheForm(browser, lms.open(clientId, { roles: [INSTRUCTOR] }));
  if ('ended' in form) throw new Error(form.ended.text);
  return () => browser.post(form.action, form.fields);
}

/** While a process of the program's own serves the tenant there; then it is ended. */
async function whileServed<T>(port: number, end: 'SIGKILL' | 'SIGTERM', work: () => Promise<T>): Promise<T> {
  const program = await startServerProcess(tenant, port);
  try {
    return await work();
  } finally {
    await program.end(end);
  }
}

test('launches that a server process began are finished by the one in its place after it was killed, each once', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { lms, clientId } = await registeredLms(tenant, at);
  const addresses = {
    redirectUris: [`${url}/launch`],
    loginInitiationUrl: `${url}/login_initiation`,
    targetLinkUri: `${url}/lti/launch`,
  };
  lms.register({ clientId, deploymentId: '1', ...addresses });
  const begun = await whileServed(port, 'SIGKILL', () => Promise.all(range(5).map(() => aboutToLaunch(lms, clientId))));
  const keySets = lms.keySetRequests;

  const pages = await whileServed(port, 'SIGTERM', () => Promise.all([...begun, ...begun].map((post) => post())));

  expect(countBy(pages, ({ status, code }) => code ?? status)).toEqual({ 303: 5, launch_used: 5 });
  expect(lms.keySetRequests - keySets).toBe(1);
});

test('a launch that was used is used for the server in the place of the one that took it', async () => {
  const post = await aboutToLaunch(at.lms, at.clientId);
  const taken = await post();

  await tenant.restart();
  const again = await post();

  expect([taken.status, again.status, again.code]).toEqual([303, 409, 'launch_used']);
});

test('a picker that one server showed is answered by the one in its place', async () => {
  const picker = await picking(tenant, at, {}, { course: { id: 'replaced', title: 'Replaced' } });
  const file = (await picker.api.upload('/files', { name: 'kept.txt', file: Buffer.from('x') })).body;

  await tenant.restart();
  const { items } = await delivered(at, await picker.answer([{ type: 'ltiResourceLink', file_id: file.id }]));

  expect([items.map(({ title }) => title), at.lms.deepLinks.wrong]).toEqual([['kept.txt'], []]);
});

test('a registration whose page one server showed is made by the one in its place', async () => {
  const lms = await Lms.start();
  const desk = new RegistrationDesk(lms, FACES.moodle);
  const page = await shownPage(desk, await newLink(tenant));

  await tenant.restart();
  const done = await pressed(tenant, page);
  await lms.stop();

  expect([page.status, done.status, desk.tools.length]).toEqual([200, 200, 1]);
});

test.each([
  ['keeps its former key published', true, 303, undefined],
  ['withdraws its former key', false, 401, 'key_unknown'],
])(
  'a launch whose LMS changes its keys between login and launch, and %s, ends so, and the next one launches',
  async (_, overlap, status, code) => {
    const own = await registeredLms(tenant);
    const before = await aboutToLaunch(own.lms, own.clientId);

    own.lms.rotate({ overlap });
    const page = await before();
    const next = await (await aboutToLaunch(own.lms, own.clientId))();
    await own.lms.stop();

    expect([page.status, page.code, next.status]).toEqual([status, code, 303]);
  },
);

test('a launch that was signed before its LMS changed its keys is known by the key that the server has kept', async () => {
  const own = await registeredLms(tenant);
  await (
    await aboutToLaunch(own.lms, own.clientId)
  )();
  const before = await aboutToLaunch(own.lms, own.clientId);

  own.lms.rotate({ overlap: false });
  const [page, next] = [await before(), await (await aboutToLaunch(own.lms, own.clientId))()];
  await own.lms.stop();

  expect([page.status, next.status]).toEqual([303, 303]);
});
