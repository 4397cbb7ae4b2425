import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Frame, FrameLocator, Page } from 'playwright-core';
import { SHARE_TEXT } from '../../../pkg/content/sharing/share-text.ts';
import { REGISTRATION_TEXT } from '../../../pkg/lti/dynamic-registration/registration-text.ts';
import { STORAGE_TEXT } from '../../../pkg/lti/pages/storage-pages.ts';
import { de } from '../../../pkg/web/text/lti.de.ts';
import { en } from '../../../pkg/web/text/lti.en.ts';
import { de as shareDe } from '../../../pkg/web/text/share.de.ts';
import { en as shareEn } from '../../../pkg/web/text/share.en.ts';
import { makeScratch } from '../../support/backends/backends.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { waitReady } from '../../support/programs/demo-tenant.ts';
import { type Claims, INSTRUCTOR, LEARNER, LTI } from '../../../pkg/local/demo/lms/claims.ts';
import { deepLinking } from '../../../pkg/local/demo/lms/deep-linking.ts';
import { FACES } from '../../../pkg/local/demo/lms/faces.ts';
import { LmsFrames } from '../../support/lms/frames.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { platform } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { courseShown, lmsTenant, type LmsTenant } from './course.ts';

const where = await platform();
let tenant: LmsTenant;
let browser: TestBrowser;
let lms: Lms;
let desk: RegistrationDesk;
let pictures: string;

beforeAll(async () => {
  pictures = process.env['CARREL_SCREENSHOTS'] ?? join(await makeScratch(), 'screenshots');
  await mkdir(pictures, { recursive: true });
  [tenant, browser, lms] = await Promise.all([lmsTenant(where), openBrowser('third-party blocked'), Lms.start()]);
  desk = new RegistrationDesk(lms, FACES.sakai);
}, 180_000);

afterAll(async () => {
  await Promise.all([browser?.close(), lms?.stop()]);
});

/** The launch says that the LMS speaks German. The browser wants English. */
const inGerman = { claims: (claims: Claims) => void (claims[`${LTI}/launch_presentation`] = { locale: 'de-DE' }) };
const LINK = { course: { id: 'latein', title: 'Latein' }, linkTitle: 'Aufgabe 1' };
const ADA = { ...LINK, user: { id: 'ada', name: 'Ada Okafor' }, roles: [INSTRUCTOR] };
const BEN = { ...LINK, user: { id: 'ben', name: 'Ben Lindqvist' }, roles: [LEARNER] };

/**
 * Expressions for the English texts, but for those that German has too. A text of one word counts where nothing stands beside it.
 */
const ENGLISH: readonly RegExp[] = [
  [en, de],
  [REGISTRATION_TEXT.en, REGISTRATION_TEXT.de],
  [SHARE_TEXT.en, SHARE_TEXT.de],
  [shareEn, shareDe],
  [STORAGE_TEXT.en, STORAGE_TEXT.de],
].flatMap(([english = {}, german = {}]) => {
  const others = new Set<unknown>(Object.values(german));
  return Object.values(english).flatMap((text: unknown) => {
    if (typeof text !== 'string' || others.has(text) || !/\p{L}{2}/u.test(text.replaceAll(/\{\w+\}/g, ''))) return [];
    const pattern = text
      .trim()
      .split(/\{\w+\}/)
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+');
    return [/\s/.test(text.replaceAll(/\{\w+\}/g, '').trim()) ? new RegExp(pattern) : new RegExp(`^${pattern}$`)];
  });
});

/** Returns the texts and accessible names of a page, each on its own. */
async function said(shown: Page | Frame): Promise<string[]> {
  const all = await shown.evaluate<string[]>(`(() => {
    const texts = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ALL);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.nodeType === Node.TEXT_NODE) texts.push(node.data);
      for (const name of ['aria-label', 'alt', 'title', 'placeholder']) texts.push(node.getAttribute?.(name) ?? '');
    }
    return texts.map((text) => text.replaceAll(/<[^>]+>/g, '').trim()).filter((text) => text !== '');
  })()`);
  return [...new Set(all)];
}

/** The texts of a page that are English; the page's language. */
async function englishOn(shown: Page | Frame): Promise<readonly [string, readonly string[]]> {
  const texts = await said(shown);
  const language = await shown.evaluate<string>('document.documentElement.lang');
  return [language, texts.filter((text) => ENGLISH.some((pattern) => pattern.test(text)))];
}
const NOTHING_ENGLISH = ['de', []] as const;

interface Framed {
  readonly page: Page;
  readonly tool: FrameLocator;
  readonly frame: () => Frame;
  readonly picture: (name: string) => Promise<unknown>;
}

async function framed(address: URL, headers: Readonly<Record<string, string>> = {}): Promise<Framed> {
  const page = await browser.page();
  await page.setViewportSize({ width: 1000, height: 1000 });
  await page.setExtraHTTPHeaders(headers);
  await page.goto(new LmsFrames(lms).url('Das LMS', address));
  return {
    page,
    tool: page.frameLocator('iframe[name=tool]'),
    frame: () => {
      const frame = page.frame({ name: 'tool' });
      if (!frame) throw new Error('there is no frame of the tool');
      return frame;
    },
    picture: (name) => page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true }),
  };
}

/** An administrator whose browser wants German registers the LMS. Gives the client id. */
async function registered(): Promise<string> {
  const { body } = await tenant.admin.post('/lti/registration-links', { platform_name: 'Sakai der Hochschule' });
  const { tool, frame, picture } = await framed(desk.open(body.url), { 'accept-language': 'de-DE,de;q=0.9' });
  await tool.getByRole('heading', { name: 'Diesen Dienst in Ihrem LMS registrieren' }).waitFor();
  await picture('german-registration');
  expect(await englishOn(frame())).toEqual(NOTHING_ENGLISH);
  await tool.getByRole('button', { name: 'Registrieren' }).click();
  await tool.getByRole('heading', { name: 'Das LMS ist registriert' }).waitFor();
  await picture('german-registered');
  expect(await englishOn(frame())).toEqual(NOTHING_ENGLISH);

  const { client_id: clientId, name } = await waitFor('the registration to be listed', async () => {
    const { data } = (await tenant.admin.get('/lti/registrations')).body;
    return data.find(({ client_id }: { client_id: string }) => client_id === desk.tools[0]?.clientId);
  });
  await waitReady(where, tenant.namespace, `ltiregistration/${name}`);
  return clientId;
}

test('registration, course, grades, picker and the storage question show no English to a German reader', async () => {
  const clientId = await registered();

  const learner = await framed(lms.open(clientId, BEN, inGerman));
  await courseShown(learner.tool, 'Latein');
  await learner.tool.getByText('Hier sind noch keine Dateien.').first().waitFor();
  expect(await englishOn(learner.frame())).toEqual(NOTHING_ENGLISH);

  const course = await framed(lms.open(clientId, ADA, inGerman));
  await courseShown(course.tool, 'Latein');
  await course.tool.getByRole('textbox', { name: 'Punkte von Ben Lindqvist' }).fill('zehn');
  await course.tool.getByRole('textbox', { name: 'Kommentar (optional) für Ben Lindqvist' }).fill('x'.repeat(10_001));
  await course.tool.getByText('Ein Kommentar hat höchstens 10.000 Zeichen. Kürzen Sie ihn.').waitFor();
  await course.picture('german-grades');
  expect(await englishOn(course.frame())).toEqual(NOTHING_ENGLISH);
  lms.scores.manner.set({ status: 404, text: 'Spalte fehlt' });
  await course.tool.getByRole('textbox', { name: 'Kommentar (optional) für Ben Lindqvist' }).fill('Gut.');
  await course.tool.getByRole('textbox', { name: 'Punkte von Ben Lindqvist' }).fill('9,5');
  await course.tool.getByRole('button', { name: 'Punkte von Ben Lindqvist senden' }).click();
  await course.tool.getByText('nicht in der Bewertungsübersicht. Ihr LMS hat mit Status 404 geantwortet').waitFor();
  await course.picture('german-refused-grade');
  expect(await englishOn(course.frame())).toEqual(NOTHING_ENGLISH);

  const picker = await framed(lms.open(clientId, ADA, deepLinking(lms.issuer, {}, inGerman)));
  await picker.tool.getByRole('heading', { name: 'Dateien auswählen', level: 1 }).waitFor();
  await picker.tool.getByText('Hier ist nichts.').waitFor();
  expect(await englishOn(picker.frame())).toEqual(NOTHING_ENGLISH);
  const buffer = Buffer.from('Gallia est omnis divisa');
  await picker.tool
    .getByLabel('Dateien auswählen', { exact: true })
    .setInputFiles([{ name: 'Text.txt', mimeType: 'text/plain', buffer }]);
  await picker.tool.getByRole('button', { name: 'Hochladen', exact: true }).click();
  await picker.tool.getByRole('button', { name: '1 Datei hinzufügen' }).waitFor();
  await picker.picture('german-picker');
  expect(await englishOn(picker.frame())).toEqual(NOTHING_ENGLISH);
  await picker.tool.getByLabel('Dateien und Ordner nach Namen suchen').fill('Text');
  await picker.tool.getByRole('button', { name: 'Suchen' }).click();
  await picker.tool.getByRole('button', { name: 'Vorschau von Text.txt' }).click();
  await picker.tool.getByRole('dialog').getByText('Gallia est omnis divisa').waitFor();
  expect(await englishOn(picker.frame())).toEqual(NOTHING_ENGLISH);

  const page = await browser.page();
  await page.setExtraHTTPHeaders({ 'accept-language': 'de' });
  // Without its script the page stays.
  await page.route('**/assets/storage-*.js', (route) => route.abort());
  await page.goto(lms.open(clientId, { ...ADA, storageTarget: '_parent' }, inGerman).href);
  await page.getByText('Wird geöffnet …').waitFor();
  expect(await englishOn(page)).toEqual(NOTHING_ENGLISH);
  const next = await page.locator('#exchange').getAttribute('data-next');
  await page.context().clearCookies();
  await page.goto(next ?? '');
  await page.locator('#exchange[data-step=get]').waitFor();
  expect(await said(page)).toContain('Erlauben Sie Skripte oder Cookies für diesen Dienst, um Ihren Kurs zu öffnen.');
  expect(await englishOn(page)).toEqual(NOTHING_ENGLISH);
});

test('the page of a share link is in the language that the browser wants', async () => {
  const { body: file } = await tenant.admin.upload('/files', { name: 'Plan.txt', file: Buffer.from('Plan') });
  const share = { password: 'correct horse battery', expires_at: '2099-01-31T12:00:00Z', max_downloads: 3 };
  const { body } = await tenant.admin.post(`/files/${file.id}/share`, share);
  const page = await browser.page();
  await page.setExtraHTTPHeaders({ 'accept-language': 'de-AT,de;q=0.8' });

  await page.goto(body.url);
  await page.getByLabel('Passwort', { exact: true }).fill('falsch');
  await page.getByRole('button', { name: 'Öffnen' }).click();
  await page.getByRole('status').getByText('Dieses Passwort ist falsch.').waitFor();
  const ofPassword = await englishOn(page);
  await page.getByLabel('Passwort', { exact: true }).fill(share.password);
  await page.getByRole('button', { name: 'Öffnen' }).click();
  await page.getByRole('heading', { name: 'Plan.txt' }).waitFor();
  await page.screenshot({ path: join(pictures, 'german-share.png') });
  const ofLink = [await englishOn(page), await page.locator('.share-facts').allTextContents()];
  await page.goto(body.url.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')));
  await page.getByRole('heading', { name: 'Dieser Link funktioniert nicht' }).waitFor();

  expect([ofPassword, ofLink]).toEqual([
    NOTHING_ENGLISH,
    [
      NOTHING_ENGLISH,
      ['Text · 4 Byte', expect.stringMatching(/^Der Link gilt bis .*2099.* Er kann noch 3 Mal verwendet werden\.$/)],
    ],
  ]);
  expect(await englishOn(page)).toEqual(NOTHING_ENGLISH);
});

test('an English page is found to be English', async () => {
  const page = await browser.page();

  await page.goto(`${new URL(tenant.apiUrl).origin}/s/${'0'.repeat(64)}`);

  expect(await englishOn(page)).toEqual(['en', expect.arrayContaining([SHARE_TEXT.en.dead, SHARE_TEXT.en.whyDead])]);
});
