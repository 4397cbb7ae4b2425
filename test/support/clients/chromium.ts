import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { resolveBinary, thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { noteOnFailure } from '../../../hack/jest/failure-notes.ts';
import { atEndOfTest } from '../../../hack/jest/test-scope.ts';
import { makeScratch, ROOT } from '../backends/backends.ts';
import { WAIT_LIMIT_MS } from '../wait.ts';

/**
 * How the browser treats cookies.
 * - `third-party blocked`: as browsers are delivered; a frame of another site keeps only partitioned ones.
 * - `all blocked`: a person (or a browser of tomorrow) who takes none; page storage throws then.
 */
export type Cookies = 'third-party blocked' | 'all blocked';

export interface TestBrowser {
  /** A new tab. One that a test opens is closed at the end of that test, as are those that a page opens meanwhile. */
  page(): Promise<Page>;
  close(): Promise<void>;
}

/** CSS pixels of a phone. */
const PHONE = { width: 390, height: 780 };

/** This machine under a name that browsers take for another machine's: over plain http they keep back some features from it. */
export const OTHER_MACHINE = 'plain.test';

const COOKIES_BLOCKED = 2; // Chromium's CONTENT_SETTING_BLOCK

/**
 * A frame that goes from site to site changes its process each time, which Playwright loses track of on a busy machine.
 * What a site is, and with it all that cookies obey, does not depend on processes.
 */
const IN_PROCESS_FRAMES = ['--disable-site-isolation-trials', '--disable-features=IsolateOrigins,site-per-process'];

export interface BrowserOptions {
  /** As a phone. */
  readonly hasTouch?: boolean;
  /** The whole browser, also where the part of it that draws no windows would do. */
  readonly isWhole?: boolean;
}

/** Chromium with a profile of its own. `flags`: further ones of its command line. */
export async function openBrowser(
  cookies: Cookies,
  flags: readonly string[] = [],
  { hasTouch = false, isWhole = cookies === 'all blocked' }: BrowserOptions = {},
): Promise<TestBrowser> {
  const profile = await mkdtemp(join(await makeScratch(), 'chromium-'));
  if (cookies === 'all blocked') {
    await mkdir(join(profile, 'Default'));
    const preferences = { profile: { default_content_setting_values: { cookies: COOKIES_BLOCKED } } };
    await writeFile(join(profile, 'Default', 'Preferences'), JSON.stringify(preferences));
  }
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: await resolveChromium(isWhole),
    args: [
      ...IN_PROCESS_FRAMES,
      `--host-resolver-rules=MAP ${OTHER_MACHINE} 127.0.0.1`,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), // Chromium's sandbox refuses root
      ...flags,
    ],
    acceptDownloads: true,
    ...(hasTouch ? { hasTouch, isMobile: true, viewport: PHONE } : {}),
    env: { ...process.env, LC_ALL: 'C.UTF-8' }, // else a machine without a locale has no names but ASCII ones
  });
  context.setDefaultTimeout(WAIT_LIMIT_MS);
  closeAtEndOfTest(context);
  const endNotes = noteOnFailure(() => lastPage(context));
  return {
    page: () => newPage(context),
    close: async () => {
      endNotes();
      await context.close();
      // A process of the browser may write there still.
      await rm(profile, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

let headlessShell: Promise<string> | undefined;

/**
 * Returns the path of Chromium's headless shell if this machine has it: its processes take 40 % less CPU for the same tests. It
 * has the engine, the network and the storage of the browser; it lacks what is above these, such as settings and guesses about
 * the next page.
 */
async function resolveChromium(isWhole: boolean): Promise<string> {
  if (isWhole) return resolveBinary('chromium', thisMachine(ROOT));
  headlessShell ??= resolveBinary('chromium-headless-shell', thisMachine(ROOT)).catch(() => resolveChromium(true));
  return headlessShell;
}

/** A tab that is left open goes on asking its server for changes, and the longer a file of tests takes, the more of them do. */
export function closeAtEndOfTest(context: BrowserContext): void {
  context.on('page', (page) => atEndOfTest(() => page.close()));
}

const SHOWN_MAX = 2_000;
const LOOK_MS = 10_000;

/** What the tab shows that was opened last, for the message of a test that failed. */
async function lastPage(context: BrowserContext): Promise<string> {
  const page = context.pages().at(-1);
  if (!page) return '';
  const text = await page.locator('body').innerText({ timeout: LOOK_MS });
  return `The last page, ${page.url()}, shows:\n${text.slice(0, SHOWN_MAX)}`;
}

/** Flags block nothing in Chromium; this control does (test/e2e/browser/cookies.test.ts looks). */
async function newPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCookieControls', { enableThirdPartyCookieRestriction: true });
  return page;
}
