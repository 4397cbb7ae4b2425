import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { SAMPLE_TENANT } from '../../../pkg/local/demo/sample-data/sample-data.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { LookedAt } from '../../support/clients/looked-at.ts';
import { visit } from '../../support/clients/visits.ts';
import { type DemoTenant, signIn as apiOf } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { addressOf, firstAdministrator, signIn } from './app.ts';
import { addressOfRoute, ROUTES } from './app-routes.ts';
import { OVER_PAGES, type Samples, samplesOf } from './over-pages.ts';
import { catalogues, inGerman, type Say } from './words.ts';

/** Each page of the app as a German reader sees it, filled by the sample data. Nothing here changes them. */
const where = await platform();
let tenant: DemoTenant;
let samples: Samples;
let browser: TestBrowser;
let shown: LookedAt;
let say: Say;
let english: readonly RegExp[];
/** What people and programs have named. */
let names: readonly string[];
/** The same of the course alone: its links are named as a page of the app is. */
let namesOfCourse: readonly string[];

beforeAll(async () => {
  [tenant, browser, say] = await Promise.all([
    apiOf(where, SAMPLE_TENANT.namespace, SAMPLE_TENANT.name),
    openBrowser('third-party blocked'),
    inGerman(),
  ]);
  [samples, english, names] = await Promise.all([samplesOf(tenant), englishPatterns(), namesAt(tenant, LISTS)]);
  namesOfCourse = await namesAt(tenant, await listsOfCourse(tenant, samples.course));
  const page = await browser.page();
  page.on('dialog', (dialog) => void dialog.accept());
  shown = await LookedAt.of(page);
  await shown.open(addressOf(tenant, '/files'));
  await signIn(page, await firstAdministrator(where, tenant));
  // Each page afterwards begins with German alone.
  await page.addInitScript(WITH_GERMAN);
}, 180_000);

afterAll(() => browser?.close());

const WITH_GERMAN = `try {
  localStorage.clear();
  localStorage.setItem('carrel:language', 'de');
} catch { /* a frame without an origin has none */ }`;
/** The language of the browser decides. */
const WITHOUT_CHOICE = 'localStorage.clear()';

/** Expressions for the English texts, but for those that a German text is too. */
async function englishPatterns(): Promise<readonly RegExp[]> {
  const pairs = await catalogues();
  const german = new Set(pairs.map(([, text]) => text));
  return pairs
    .filter(([text]) => !german.has(text) && /\p{L}{2}/u.test(text.replaceAll(/\{\w+\}/g, '')))
    .map(([text]) => {
      const parts = text.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
      return new RegExp(`^${parts.join('.+')}$`, 's');
    });
}

const LISTS_OF_LTI = ['lti/contexts', 'lti/registrations'];
const LISTS = ['folders', 'files', 'tags', 'users', 'groups', 'shares', 'jobs', 'webhooks', 'schedules', ...LISTS_OF_LTI];
/** Values under these names are somebody's words, not ours. */
const NAMING = /name|title|label|email|url|host|issuer|description|tags|metadata|attributes|client_id|comment/;
/** Zones are called the same in each language. */
const ZONES = Intl.supportedValuesOf('timeZone').map((zone) => zone.replaceAll('_', ' '));

/** The columns of the grade book of a course, and what is in them. */
async function listsOfCourse({ admin }: DemoTenant, course: string): Promise<readonly string[]> {
  const columns = `lti/contexts/${course}/line-items`;
  const { body } = await admin.get(`/${columns}`);
  return [columns, 'lti/grades', ...body.data.map(({ id }: { id: string }) => `${columns}/${id}/results`)];
}

async function namesAt({ admin }: DemoTenant, lists: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  const collect = (value: unknown, key: string): void => {
    if (typeof value === 'string' && value.length > 2 && NAMING.test(key)) found.add(value);
    else if (typeof value === 'object' && value !== null)
      for (const [name, one] of Object.entries(value)) collect(one, NAMING.test(key) || Array.isArray(value) ? key : name);
  };
  for (const list of lists) collect((await admin.get(`/${list}?limit=100`)).body, '');
  return [...found];
}

/** Words that English sentences have and German ones do not. */
const ENGLISH_WORDS = /\b(?:the|of|and|with|are|your|you|this|that|these|not|from|for|by|has|have|were|cannot|until|which)\b/i;

/**
 * Texts, titles and accessible names, each by itself, and a name as one in which a hit is marked. Lines for a shell and names of
 * the API are the same in each language.
 */
const SAID = `(() => {
  const SAME = 'script, style, noscript, pre, code, kbd, [lang]:not(html), .preview-text';
  const texts = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ALL);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    if (element?.closest?.(SAME)) continue;
    if (node.nodeType === Node.TEXT_NODE) texts.push(element.closest(':has(> mark)')?.textContent ?? node.data);
    for (const name of ['aria-label', 'alt', 'title', 'placeholder', 'aria-valuetext', 'aria-description'])
      texts.push(node.getAttribute?.(name) ?? '');
  }
  return [...new Set(texts.map((text) => text.trim()).filter((text) => /\\p{L}{2}/u.test(text)))];
})()`;

/** The texts of the page that are English. */
async function englishOn(page: Page, alsoNamed: readonly string[] = []): Promise<readonly string[]> {
  const texts = await page.evaluate<string[]>(SAID);
  const found = englishOf(texts, [...names, ...alsoNamed]);
  if (found.length === 0) return found;
  // A job of the sample data may have made a file by now.
  names = await namesAt(tenant, LISTS);
  return englishOf(found, [...names, ...alsoNamed]);
}

function englishOf(texts: readonly string[], named: readonly string[]): readonly string[] {
  const longestFirst = [...named, ...ZONES].toSorted((one, other) => other.length - one.length);
  return texts.filter((text) => {
    const ours = longestFirst.reduce((rest, name) => rest.replaceAll(name, '§'), text);
    return /\p{L}{2}/u.test(ours) && (ENGLISH_WORDS.test(ours) || english.some((pattern) => pattern.test(ours)));
  });
}

const LANGUAGE = 'document.documentElement.lang';
/** The gallery of components is for those who build pages, in English. */
const isForReaders = (path: string): boolean => path !== '/design';
/** No page is there. */
const NOWHERE = '/files/a/b/c';
const OF_GALLERY = / in the gallery$/;

test.each([...ROUTES, '/account', NOWHERE].filter(isForReaders))(
  '%s, its menus and what they open show no English to a German reader',
  async (path) => {
    const found = new Set<string>();
    const look = async (): Promise<void> => {
      for (const text of await englishOn(shown.page, path === '/courses/:id' ? namesOfCourse : [])) found.add(text);
    };
    await visit(shown, addressOf(tenant, addressOfRoute(path, samples)), look);

    expect([await shown.page.evaluate(LANGUAGE), [...found]]).toEqual(['de', []]);
  },
  300_000,
);

test.each(OVER_PAGES.filter(([what]) => !OF_GALLERY.test(what)))(
  '%s shows no English to a German reader',
  async (_what, path, reach) => {
    await shown.open(addressOf(tenant, path(samples)));
    await reach(shown.page, samples, say);
    await shown.settled();

    expect([await shown.page.evaluate(LANGUAGE), await englishOn(shown.page)]).toEqual(['de', []]);
  },
);

test.each(['/sign-in', '/reset#a-token', '/reset'])('%s shows no English to a German reader', async (path) => {
  const page = await browser.page();
  await page.setExtraHTTPHeaders({ 'accept-language': 'de-DE,de;q=0.9' });
  await page.context().clearCookies();
  await page.addInitScript(WITHOUT_CHOICE);
  const looked = await LookedAt.of(page);
  await looked.open(addressOf(tenant, path));

  expect([await page.evaluate(LANGUAGE), await englishOn(page)]).toEqual(['de', []]);
});

test('a page in English is found to be so', async () => {
  const page = await browser.page();
  await page.context().clearCookies();
  await page.addInitScript(WITHOUT_CHOICE);
  const looked = await LookedAt.of(page);
  await looked.open(addressOf(tenant, '/sign-in'));

  expect([await page.evaluate(LANGUAGE), (await englishOn(page)).length > 3]).toEqual(['en', true]);
});
