import { decodeJwt } from 'jose';
import { expect, test } from '@jest/globals';
import { Browser, follow } from '../../support/lms/browser.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { countBy, range } from '../../support/wait.ts';

// The default limits of a Tenant (docs/design/api-conventions.md, Rate limits).
const { tenant, at } = lmsSuite({ limits: { user: 100, tenant: 1000, ip: 10_000 } });

const PEOPLE = 300;
/** Browsers that are on their way at the same time. */
const AT_ONCE = 25;

/** A click on a link of the course, and what the page of the course asks for; the statuses of all that came. */
async function open(person: string): Promise<number[]> {
  const browser = new Browser();
  const launch = await follow(browser, at.lms.open(at.clientId, { user: { id: person } }));
  if (launch.status !== 303) return [launch.status];
  const entry = String(launch.headers.location);
  const token = new URL(entry).searchParams.get('token') ?? '';
  const api = tenant.anonymous.as(token);
  // The page, and once more: a launch by the LMS's storage has a page more.
  const pages = [await browser.get(entry), await browser.get(entry)];
  const view = await api.get(`/lti/launches/${String(decodeJwt(token)['launch_id'])}`);
  const { folder } = view.body as { folder: { id: string } };
  const files = await api.get(`/files?folder_id=${folder.id}&sort=name&limit=50`);
  return [...pages, view, files].map(({ status }) => status);
}

test('a lesson starts: 300 people behind one address open a link at once within the usual limits, and all get in', async () => {
  const waiting = range(PEOPLE).map((index) => `person-${index}`);
  const came: number[][] = [];
  const browsers = range(AT_ONCE).map(async () => {
    for (let person = waiting.pop(); person !== undefined; person = waiting.pop()) came.push(await open(person));
  });
  await Promise.all(browsers);

  expect(countBy(came, (statuses) => statuses.join(' '))).toEqual({ '200 200 200 200': PEOPLE });
});
