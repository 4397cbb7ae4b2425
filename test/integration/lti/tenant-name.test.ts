import { expect, test } from '@jest/globals';
import { Browser, follow } from '../../support/lms/browser.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';

const { tenant, at } = lmsSuite({ name: 'Faculty of <Biology>' });

test('a tenant’s name is on the course page, on pages that refuse, and in the title of its API description', async () => {
  const browser = new Browser();
  const launch = await follow(browser, at.lms.open(at.clientId));
  const pages = [await browser.get(String(launch.headers.location)), await browser.get(`${tenant.url}/lti/launch`)];
  const document = (await tenant.anonymous.get('/openapi.json')).body as { info: { title: string } };

  expect(
    pages.map(({ status, text }) => [
      status,
      /<title>(.*)<\/title>/.exec(text)?.[1],
      /<header class="tenant">(.*)<\/header>/.exec(text)?.[1],
    ]),
  ).toEqual([
    [200, 'Course files – Faculty of &lt;Biology&gt;', 'Faculty of &lt;Biology&gt;'],
    [400, 'Something went wrong – Faculty of &lt;Biology&gt;', 'Faculty of &lt;Biology&gt;'],
  ]);
  expect(document.info.title).toBe('Carrel – Faculty of <Biology>');
});
