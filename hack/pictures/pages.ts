import type { Page } from 'playwright-core';

/** A page of docs/pictures. */
export interface Picture {
  /** Of its files: `<name>-<wide|phone>-<light|dark>.webp`. */
  readonly name: string;
  /** `{Name}` stands for the id of the sample folder of that name. */
  readonly path: string;
  /** What somebody does there first. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** True: nobody is signed in. */
  readonly isSignedOut?: boolean;
}

const select = (page: Page, name: string): Promise<void> =>
  page
    .getByRole('row', { name: new RegExp(name) })
    .getByRole('gridcell')
    .last()
    .click({ position: { x: 2, y: 2 } });
const MISSING = `[...document.querySelectorAll('.files-thumbnail')].filter(
  (box) => !box.querySelector('img') && box.getBoundingClientRect().top < innerHeight).length`;

/** Shows cards, and waits for the thumbnail of each on the screen. */
async function asCards(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Pictures', exact: true }).click();
  await page.locator('.files-thumbnail').first().waitFor();
  // The policy of the page refuses what waitForFunction needs.
  for (let look = 0; look < 100 && Number(await page.evaluate(MISSING)) > 0; look += 1) await page.waitForTimeout(100);
}

/** All pictures. A new page is a line here. */
export const PICTURES: readonly Picture[] = [
  { name: 'sign-in', path: '/', isSignedOut: true },
  { name: 'files', path: '/files/{Field course}' },
  { name: 'photos', path: '/files/{Photos}', prepare: asCards },
  {
    name: 'details',
    path: '/files/{Thesis}',
    prepare: async (page) => {
      await select(page, 'Salt, wind and light');
      await page.keyboard.press('Alt+Enter');
      await page.getByRole('tab', { name: 'Versions' }).click();
    },
  },
  { name: 'search', path: '/search?q=light' },
  { name: 'shared', path: '/shared' },
  { name: 'recent', path: '/recent' },
  { name: 'trash', path: '/trash' },
  { name: 'people', path: '/admin/people' },
  { name: 'lms', path: '/admin/lms' },
  { name: 'link-rules', path: '/admin/links' },
  { name: 'welcome', path: '/welcome' },
];
