import type { Frame, Page } from 'playwright-core';
import { waitFor } from '../wait.ts';
import { axeFindings, type Rules } from './axe.ts';

/** CSS pixels: 1280 at 400 % zoom (WCAG 2.2, 1.4.10). */
const ZOOMED = { width: 320, height: 640 };
const PHONE = { width: 360, height: 740 };
/** A layout follows a new width within a frame or two; a busy machine takes longer. */
const LAYOUT_MS = 10_000;

/** How a page may look. All but the first differ from it in their colours alone. */
const LOOKS: readonly { readonly name: string; readonly media: Media; readonly rules: Rules }[] = [
  { name: 'light', media: { colorScheme: 'light' }, rules: 'all of WCAG 2.2' },
  { name: 'dark', media: { colorScheme: 'dark' }, rules: 'colours' },
  { name: 'high contrast, light', media: { colorScheme: 'light', contrast: 'more' }, rules: 'enhanced colours' },
  { name: 'high contrast, dark', media: { colorScheme: 'dark', contrast: 'more' }, rules: 'enhanced colours' },
  { name: 'forced colours', media: { colorScheme: 'dark', forcedColors: 'active' }, rules: 'colours' },
];
type Media = Parameters<Page['emulateMedia']>[0];
const PLAIN: Media = { colorScheme: 'light', contrast: 'no-preference', forcedColors: 'none', reducedMotion: 'reduce' };

/** Returns what axe finds in a tab and its frames, in light, dark and high contrast, and with colours that the system forces. */
export async function findingsInEachLook(page: Page, shown: readonly (Page | Frame)[]): Promise<string[]> {
  const found: string[] = [];
  for (const { name, media, rules } of LOOKS) {
    await page.emulateMedia({ ...PLAIN, ...media });
    for (const one of shown) found.push(...(await axeFindings(one, rules)).map((finding) => `${name}: ${finding}`));
  }
  await page.emulateMedia(PLAIN);
  return found;
}

/**
 * Returns what is wrong with a page or frame at 400 % zoom and on a phone: it scrolls sideways, a part of it is out of reach, or
 * a target is too small for a finger.
 */
export async function findingsWhereNarrow(page: Page, shown: Page | Frame): Promise<string[]> {
  await page.setViewportSize(ZOOMED);
  const found = await unfitting(shown, 'at 400 % zoom');
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  await page.setViewportSize(PHONE);
  found.push(...(await unfitting(shown, 'on a phone')));
  if (!(await shown.evaluate<boolean>(`matchMedia('(pointer: coarse)').matches`))) throw new Error('no finger points');
  const small = await shown.evaluate<string[]>(SMALL);
  found.push(...small.map((what) => `small on a phone: ${what}`));
  found.push(...(await axeFindings(shown, 'targets')).map((finding) => `on a phone: ${finding}`));
  await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: false });
  await devtools.detach();
  return found;
}

/** What a page says of an element. */
const NAMED = `((element) =>
  element.tagName.toLowerCase() + ' "' + (element.ariaLabel ?? element.textContent ?? '').trim().slice(0, 60) + '"')`;
const SEEN = `((element) =>
  element.checkVisibility({ visibilityProperty: true }) && !element.closest('.c-hidden, [aria-hidden=true]'))`;

/** What a person reads or uses, and part of which is beyond an edge of the screen where nothing scrolls to it. */
const READ = 'a[href], button, input, select, textarea, summary, h1, h2, h3, p, dt, dd, th, td';
const CUT_OFF = `[...document.querySelectorAll('${READ}')]
  .filter(${SEEN})
  .filter((element) => {
    const { left, right, width } = element.getBoundingClientRect();
    return width > 1 && (left < -1 || right > innerWidth + 1);
  })
  .filter((element) => {
    for (let box = element.parentElement; box; box = box.parentElement) {
      const { overflowX, clipPath } = getComputedStyle(box);
      if (/auto|scroll/.test(overflowX) && box.scrollWidth > box.clientWidth) return false;
      // For screen readers alone: the heads of a table whose rows are cards.
      if (clipPath === 'inset(50%)') return false;
    }
    return true;
  })
  .map(${NAMED})`;

/** What is used, and lies above or below the screen in something that does not move with the page. */
const USED = 'a[href], button, input, select, textarea, summary';
const OUT_OF_REACH = `[...document.querySelectorAll('${USED}')]
  .filter(${SEEN})
  .filter((element) => {
    const { top, bottom, height } = element.getBoundingClientRect();
    if (height <= 1 || (top >= -1 && bottom <= innerHeight + 1)) return false;
    for (let box = element; box; box = box.parentElement) {
      const { overflowY, position, clipPath } = getComputedStyle(box);
      if (/auto|scroll/.test(overflowY) && box.scrollHeight > box.clientHeight) return false;
      if (position === 'fixed') return clipPath !== 'inset(50%)';
    }
    return false;
  })
  .map(${NAMED})`;

/** Where a finger points, components are as high as tokens.css says: 44 px. */
const OF_FINGERS = '.c-button, .c-icon-button, .c-input, .c-menu-item, .c-tab, .c-check, .c-switch, .navigation-link';
const FINGER_PX = 44;
const SMALL = `[...document.querySelectorAll('${OF_FINGERS}')]
  .filter(${SEEN})
  .filter((element) => element.getBoundingClientRect().height < ${FINGER_PX} - 0.5)
  .map((element) => element.getBoundingClientRect().height + ' px: ' + ${NAMED}(element))`;

const FITS = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';

async function unfitting(shown: Page | Frame, where: string): Promise<string[]> {
  let found: string[] = [];
  const look = async (): Promise<boolean> => {
    const [isFit, cutOff, unreachable] = [
      await shown.evaluate<boolean>(FITS),
      await shown.evaluate<string[]>(CUT_OFF),
      await shown.evaluate<string[]>(OUT_OF_REACH),
    ];
    found = [
      ...(isFit ? [] : [`scrolls sideways ${where}`]),
      ...cutOff.map((what) => `cut off ${where}: ${what}`),
      ...unreachable.map((what) => `out of reach ${where}: ${what}`),
    ];
    return found.length === 0;
  };
  try {
    await waitFor(`the page to fit ${where}`, look, LAYOUT_MS);
  } catch {
    await look();
  }
  return found;
}
