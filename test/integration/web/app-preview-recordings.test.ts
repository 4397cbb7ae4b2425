import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { DOWNLOAD_LINK_SECONDS } from '../../../pkg/api/lifetimes.ts';
import { type Clock, systemClock } from '../../../pkg/runtime/clock.ts';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { film } from '../../support/clients/film.ts';
import { wav } from '../../support/data/small-media.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { openSignedIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;
let aheadMs = 0;

beforeAll(async () => {
  const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology', clock }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const preview = (page: Page): Locator => page.getByRole('dialog');

/** The page of a person who has this recording, and has opened it; and the statuses of what was loaded by its addresses. */
async function opened(name: string, type: string, file: Buffer): Promise<{ page: Page; statuses: number[] }> {
  const { api, user, password } = await tenant.user();
  await api.upload('/files', { name, type, file });
  const page = await openSignedIn(browser, tenant, { email: user.email, password });
  const statuses: number[] = [];
  page.on('response', (reply) => {
    if (reply.url().includes('/tickets/')) statuses.push(reply.status());
  });
  await page.getByRole('button', { name, exact: true }).click();
  return { page, statuses };
}

test('a film is shown in its proportions, and plays', async () => {
  const { page } = await opened('film.webm', 'video/webm', await film(browser));
  const video = preview(page).locator('video');
  await waitFor('the film', () => page.evaluate(`document.querySelector('dialog video')?.videoWidth === 320`));
  await page.evaluate(`(video => { video.muted = true; void video.play(); })(document.querySelector('dialog video'))`);
  await waitFor('it to play', () => page.evaluate(`document.querySelector('dialog video').currentTime > 0.1`));
  const { width = 0, height = 1 } = (await video.boundingBox()) ?? {};

  expect(width / height).toBeCloseTo(320 / 180, 1);
});

test('axe finds nothing on a film in light and dark', async () => {
  const { page } = await opened('film.webm', 'video/webm', await film(browser));
  await waitFor('the film', () => page.evaluate(`document.querySelector('dialog video')?.videoWidth === 320`));
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }

  expect(found).toEqual([]);
});

test('a recording that plays for longer than its address works goes on from the same position', async () => {
  const { page, statuses } = await opened('lecture.wav', 'audio/wav', wav(3600));
  const audio = `document.querySelector('dialog audio')`;
  await waitFor('the length', () => page.evaluate(`${audio}?.duration === 3600`));
  await page.evaluate(`${audio}.muted = true; ${audio}.playbackRate = 2; void ${audio}.play()`);
  await waitFor('it to play', () => page.evaluate(`${audio}.currentTime > 0.1`));
  aheadMs += (DOWNLOAD_LINK_SECONDS + 1) * 1000;
  await page.evaluate(`${audio}.currentTime = 3500`);
  await waitFor('it to play there', () => page.evaluate(`${audio}.currentTime > 3500.1 && ${audio}.error === null`));
  const [first, last] = [statuses[0], statuses.at(-1)];

  expect([first, statuses.includes(404), last]).toEqual([206, true, 206]);
  expect(await page.evaluate(`[${audio}.paused, ${audio}.playbackRate]`)).toEqual([false, 2]);
});

test('a file that is no recording says so in place of a player', async () => {
  const { page } = await opened('broken.mp4', 'video/mp4', Buffer.from('no film'));

  await preview(page).getByText('The browser cannot play this file.').waitFor();
  expect(await preview(page).locator('video').count()).toBe(0);
});
