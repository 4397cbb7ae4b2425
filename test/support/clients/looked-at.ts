import type { Frame, Page, Request } from 'playwright-core';
import { waitFor } from '../wait.ts';
import { axeFindings } from './axe.ts';

/** The size at which people usually see the pages. */
const WIDE = { width: 1280, height: 800 };
/** CSS pixels: 1280 at 400 % zoom (WCAG 2.2, 1.4.10). */
const ZOOMED = { width: 320, height: 640 };
const PHONE = { width: 390, height: 780 };
/** A layout follows a new width within a frame or two; a busy machine takes longer. */
const LAYOUT_MS = 10_000;
/** What lasts no longer than this is no motion. */
const BLINK_MS = 50;

/** Notes each animation and transition that lasts longer than a blink. Runs before the scripts of the page. */
const WATCH_MOTION = `(() => {
  window.movedLong = new Set();
  const note = () => {
    for (const animation of document.getAnimations()) {
      const lasts = animation.effect?.getComputedTiming().activeDuration ?? 0;
      if (lasts > ${BLINK_MS}) movedLong.add(animation.animationName ?? animation.transitionProperty ?? 'a script’s animation');
    }
  };
  for (const type of ['animationstart', 'transitionrun']) addEventListener(type, note, true);
})()`;

/** What a person reads or uses, and part of which is beyond an edge of the screen where nothing scrolls to it. */
const READ = 'a[href], button, input, select, textarea, summary, h1, h2, h3, p, dt, dd, th, td';
const CUT_OFF = `[...document.querySelectorAll('${READ}')]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest('.c-hidden, [aria-hidden=true]'))
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
  .map((element) => element.tagName.toLowerCase() + ' "' + (element.ariaLabel ?? element.textContent ?? '').slice(0, 60) + '"')`;

const FITS = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';

/** What stands for something that loads. The gallery shows these for their own sake. */
const LOADING = `!!document.querySelector(':is(.c-skeleton, .c-spinner, .preview-frame-waiting):not(.gallery *)')`;

/** A page whose person wants no motion. Its motion is noted, and its requests. */
export class LookedAt {
  readonly page: Page;
  readonly #underWay = new Set<Request>();

  private constructor(page: Page) {
    this.page = page;
    page.on('request', (request) => {
      const isEndless = request.resourceType() === 'media' || request.headers().accept === 'text/event-stream';
      if (!isEndless) this.#underWay.add(request);
    });
    const ended = (request: Request): void => void this.#underWay.delete(request);
    page.on('requestfinished', ended);
    page.on('requestfailed', ended);
  }

  static async of(page: Page): Promise<LookedAt> {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.addInitScript(WATCH_MOTION);
    return new LookedAt(page);
  }

  /** Opens an address at the usual size, and waits until the page shows what it has. */
  async open(url: string): Promise<void> {
    await this.page.setViewportSize(WIDE);
    this.#underWay.clear();
    await this.page.goto(url);
    await this.page.getByRole('heading', { level: 1 }).first().waitFor();
    await this.settled();
  }

  /** Waits until no request is under way and nothing stands for what loads. */
  settled(): Promise<unknown> {
    return waitFor('the page to have loaded', async () => this.#underWay.size === 0 && !(await this.page.evaluate(LOADING)));
  }

  /**
   * Returns what is wrong with what is shown: findings of axe in light and dark, what does not fit at 400 % zoom and on a phone,
   * and motion. axe looks into the frames that are given, too.
   */
  async findings(frames: readonly Frame[] = []): Promise<string[]> {
    const { page } = this;
    const found: string[] = [];
    // The dark page differs from the light one in its colours alone.
    for (const [colorScheme, rules] of [
      ['light', 'all rules'],
      ['dark', 'colours'],
    ] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const shown of [page, ...frames])
        found.push(...(await axeFindings(shown, rules)).map((finding) => `${colorScheme}: ${finding}`));
    }
    await page.setViewportSize(ZOOMED);
    found.push(...(await unfitting(page, 'at 400 % zoom')));
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    await page.setViewportSize(PHONE);
    found.push(...(await unfitting(page, 'on a phone')));
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: false });
    await devtools.detach();
    const moved = await page.evaluate<string[]>('[...movedLong]');
    return [...found, ...moved.map((name) => `moves although nobody wants that: ${name}`)];
  }
}

async function unfitting(page: Page, where: string): Promise<string[]> {
  let found: string[] = [];
  const look = async (): Promise<boolean> => {
    const cutOff = await page.evaluate<string[]>(CUT_OFF);
    found = [
      ...((await page.evaluate<boolean>(FITS)) ? [] : [`scrolls sideways ${where}`]),
      ...cutOff.map((what) => `cut off ${where}: ${what}`),
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
