import type { Locator, Page } from 'playwright-core';
import type { LookedAt } from './looked-at.ts';

/** More controls of one page, and commands of one menu, say nothing new. */
const MOST_CONTROLS = 14;
const MOST_COMMANDS = 12;

/** A list goes on by itself when its end comes into view. */
const NOT_PRESSED = ':disabled, [aria-disabled=true], .c-endless-end *';
/** Marks what can be pressed in the content, one of each kind: of rows that are alike, the first. Returns the kinds in order. */
const MARK = `(() => {
  const kinds = [];
  for (const element of document.querySelectorAll('main :is(button, summary)')) {
    if (!element.checkVisibility({ visibilityProperty: true }) || element.matches('${NOT_PRESSED}')) continue;
    const isInRow = element.closest('li, tr, [role=row]') !== null;
    const words = isInRow ? '' : (element.ariaLabel ?? element.textContent);
    const kind = [element.className, element.role, element.querySelector('path')?.getAttribute('d'), words].join(' ');
    if (kinds.includes(kind)) continue;
    element.dataset.visit = String(kinds.push(kind) - 1);
  }
  return kinds;
})()`;

/** Toasts would lie over what is pressed next. */
const CLOSE_TOASTS = `document.querySelectorAll('.c-toast > .c-icon-button').forEach((button) => button.click())`;

/** Refuses whatever would change something; who is signed in may be asked. */
async function refuseChanges(page: Page): Promise<void> {
  await page.route('**/api/v1/**', (route) => {
    const request = route.request();
    if (request.method() === 'GET' || request.url().includes('/auth/')) return route.fallback();
    return route.fulfill({ status: 403, json: { error: 'forbidden', message: 'Nothing is changed here.' } });
  });
}

/**
 * Opens a page, presses each control of its content and each command of each menu, and calls `look` after each. Nothing is
 * changed: such requests are refused. Other readers may change what the page shows: a control that is gone when the page is
 * opened again is left out.
 */
export async function visit(shown: LookedAt, url: string, look: () => Promise<void>): Promise<void> {
  const { page } = shown;
  /** The kinds of the controls that are marked now. */
  let kinds: readonly string[] = [];
  const control = (kind: string): Locator => page.locator(`[data-visit="${kinds.indexOf(kind)}"]`);
  const open = async (): Promise<void> => {
    await shown.open(url);
    await refuseChanges(page);
    kinds = await page.evaluate<string[]>(MARK);
  };
  const isAsBefore = async (kind: string): Promise<boolean> => {
    for (let layer = 0; layer < 2; layer += 1) await page.keyboard.press('Escape');
    // A layer that has an address closes by going back, which would end the next navigation.
    await shown.settled();
    const isOver = await page.evaluate<boolean>(`document.querySelector('dialog[open], :popover-open') !== null`);
    return !isOver && page.url() === url && (await control(kind).isVisible());
  };
  const commands = page.locator(':popover-open [role^=menuitem]:not([aria-disabled=true])');
  /** Returns false if the page no longer has the control. */
  const press = async (kind: string): Promise<boolean> => {
    if (!(await isAsBefore(kind))) await open();
    if (!kinds.includes(kind)) return false;
    await page.evaluate(CLOSE_TOASTS);
    await control(kind).click();
    await shown.settled();
    await look();
    return true;
  };

  await open();
  await look();
  for (const kind of kinds.slice(0, MOST_CONTROLS)) {
    if (!(await press(kind))) continue;
    const all = Math.min(await commands.count(), MOST_COMMANDS);
    for (let at = 0; at < all; at += 1) {
      if (at > 0 && !(await press(kind))) break;
      await commands.nth(at).click();
      await shown.settled();
      await look();
    }
  }
}
