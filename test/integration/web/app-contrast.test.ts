import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { openSignedIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

/** The gallery, to somebody whose system looks so. */
async function gallery(media: Parameters<Page['emulateMedia']>[0]): Promise<Page> {
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/design');
  await page.emulateMedia({ reducedMotion: 'reduce', ...media });
  await page.getByRole('heading', { name: 'Components', level: 1 }).waitFor();
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  return page;
}

const WIDTH_OF_RING = `getComputedStyle(document.documentElement).getPropertyValue('--focus-width').trim()`;

test('a person or their system asks for more contrast, and the ring of the focus is 3 px wide', async () => {
  const page = await gallery({ contrast: 'no-preference' });
  const before = await page.evaluate<string>(WIDTH_OF_RING);
  await page.emulateMedia({ contrast: 'more' });
  const bySystem = await page.evaluate<string>(WIDTH_OF_RING);
  await page.emulateMedia({ contrast: 'no-preference' });
  await page.getByRole('button', { name: /^Account: / }).click();
  await page.getByRole('menuitemradio', { name: 'High contrast', exact: true }).click();
  const byPerson = await page.evaluate<string>(WIDTH_OF_RING);
  await page.reload();
  await page.getByRole('heading', { name: 'Components', level: 1 }).waitFor();
  const later = await page.evaluate<string>(WIDTH_OF_RING);
  await page.evaluate('localStorage.clear()');

  expect([before, bySystem, byPerson, later]).toEqual(['2px', '3px', '3px', '3px']);
});

/** The contrasts that the gallery shows of texts, from the first row to the last. */
const contrasts = async (page: Page): Promise<number[]> =>
  (await page.getByRole('region', { name: 'Contrast of texts' }).getByRole('cell').allTextContents())
    .filter((text) => text !== '')
    .map(Number);

test('the gallery shows each token with its contrast, and each look of the pages', async () => {
  const page = await gallery({ contrast: 'no-preference', colorScheme: 'light' });
  const found: [string, number, number][] = [];
  for (const look of ['Light', 'Dark', 'High contrast, light', 'High contrast, dark']) {
    await page.locator('.gallery-head').getByRole('button').click();
    await page.getByRole('menuitemradio', { name: look, exact: true }).click();
    await page.locator('.gallery-head').getByRole('button', { name: look, exact: true }).waitFor();
    const shown = await contrasts(page);
    found.push([look, shown.length, Math.min(...shown)]);
  }

  expect(found.map(([look, number]) => [look, number])).toEqual([
    ['Light', 35],
    ['Dark', 35],
    ['High contrast, light', 35],
    ['High contrast, dark', 35],
  ]);
  const [light = 0, dark = 0, moreInLight = 0, moreInDark = 0] = found.map(([, , least]) => least);
  expect([light >= 4.5, dark >= 4.5, moreInLight >= 7, moreInDark >= 7]).toEqual([true, true, true, true]);
  expect(light).toBeLessThan(7);
});

/** States that a ground alone would say: where, and what brings the element there into the state and out of it. */
const STATES: readonly [what: string, selector: string, on: string, off: string][] = [
  ['a pressed button', '.c-icon-button[aria-label=Grid]', 'ariaPressed = "true"', 'ariaPressed = "false"'],
  ['an open menu’s button', '.c-icon-button[aria-label=More]', 'ariaExpanded = "true"', 'ariaExpanded = "false"'],
  ['a disabled button', '.c-button-primary:not(.c-button-busy)', 'disabled = true', 'disabled = false'],
  ['a chosen tab', '[role=tab]:last-of-type', 'ariaSelected = "true"', 'ariaSelected = "false"'],
  ['a checked box', '.c-check-box[type=checkbox]', 'checked = true', 'checked = false'],
  ['a chosen radio button', '.c-check-box[type=radio]', 'checked = true', 'checked = false'],
  ['a switch', '.c-switch-track', 'checked = true', 'checked = false'],
  ['progress', '.gallery progress[value]', 'value = 0.9', 'value = 0.2'],
  ['a selected row', '.c-grid-body > .c-grid-row', 'classList.add("c-grid-selected")', 'classList.remove("c-grid-selected")'],
  ['the page of the navigation', '.navigation-link', 'ariaCurrent = "page"', 'ariaCurrent = null'],
];

test.each(STATES)('with colours that the system forces, %s is seen to be so', async (_what, selector, on, off) => {
  const page = await gallery({ forcedColors: 'active' });
  const element = page.locator(selector).first();
  // A grid renders the rows that are on the screen.
  if (selector.startsWith('.c-grid')) await page.locator('.c-grid').scrollIntoViewIfNeeded();
  await element.scrollIntoViewIfNeeded();
  const picture = async (change: string): Promise<string> => {
    await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).${change}`);
    return (await element.screenshot()).toString('base64');
  };

  const without = await picture(off);
  const within = await picture(on);
  const again = await picture(off);

  expect(within === without).toBe(false);
  expect(again).toBe(without);
});

/** Controls that have no line where colours are forced. */
const CONTROLS = '.c-button, .c-icon-button, .c-input, .c-check-box, .c-switch-track, .c-tag';
const WITHOUT_EDGE = `(() => {
  const ground = getComputedStyle(document.body).backgroundColor;
  return [...document.querySelectorAll('.gallery :is(${CONTROLS})')]
    .filter((element) => element.checkVisibility({ visibilityProperty: true }))
    .filter((element) => {
      const { borderTopStyle, borderTopWidth, borderTopColor, backgroundColor } = getComputedStyle(element);
      const isLined = borderTopStyle !== 'none' && parseFloat(borderTopWidth) > 0;
      const isSeen = (colour) => colour !== ground && !/^rgba\\(.*, 0\\)$/.test(colour);
      return !((isLined && isSeen(borderTopColor)) || isSeen(backgroundColor));
    })
    .map((element) => element.className + ' ' + (element.ariaLabel ?? element.textContent));
})()`;

test('with colours that the system forces, each control has an edge, and nothing that a drawing says is gone', async () => {
  const page = await gallery({ forcedColors: 'active' });

  expect(await page.evaluate<string[]>(WITHOUT_EDGE)).toEqual([]);
  const icons = await page.evaluate<number>(`(() => {
    const ground = getComputedStyle(document.body).backgroundColor;
    return [...document.querySelectorAll('.gallery :is(.c-icon, .c-file-icon)')]
      .filter((icon) => !icon.closest('.c-button-primary, .c-button-danger, [aria-pressed=true]'))
      .filter((icon) => getComputedStyle(icon).stroke === ground).length;
  })()`);
  expect(icons).toBe(0);
});

test('series of a plot differ without their colours', async () => {
  const page = await gallery({ contrast: 'more' });
  await page.evaluate(`for (const number of [1, 2]) document.documentElement.style.setProperty('--series-' + number, '#222222')`);
  const keys = page.locator('.c-plot-key');
  await keys.first().scrollIntoViewIfNeeded();
  const pictures: string[] = [];
  for (const key of await keys.all()) pictures.push((await key.screenshot()).toString('base64'));

  expect([pictures.length, new Set(pictures).size]).toEqual([4, 4]);
});
