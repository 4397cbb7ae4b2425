import type { Frame, Page, Request } from 'playwright-core';
import { waitFor } from '../wait.ts';
import { findingsInEachLook, findingsWhereNarrow } from './looks.ts';

/** The size at which people usually see the pages. */
const WIDE = { width: 1280, height: 800 };
/** What lasts no longer than this is no motion. */
const BLINK_MS = 50;

/**
 * Notes each animation and transition that lasts longer than a blink: when it starts, because some never end, and when it ends,
 * because on a busy page its start may be reported only once it is over. Runs before the scripts of the page.
 */
const WATCH_MOTION = `(() => {
  window.movedLong = new Set();
  const note = (name, lastsMs) => {
    if (lastsMs > ${BLINK_MS}) movedLong.add(name);
  };
  const noteRunning = () => {
    for (const animation of document.getAnimations()) {
      const name = animation.animationName ?? animation.transitionProperty ?? 'a script’s animation';
      note(name, animation.effect?.getComputedTiming().activeDuration ?? 0);
    }
  };
  const noteEnded = (event) => note(event.animationName ?? event.propertyName, event.elapsedTime * 1000);
  for (const type of ['animationstart', 'transitionrun']) addEventListener(type, noteRunning, true);
  for (const type of ['animationend', 'transitionend']) addEventListener(type, noteEnded, true);
})()`;

/** What stands for something that loads. The gallery shows these for their own sake. */
const LOADING = `!!document.querySelector(':is(.c-skeleton, .c-spinner, .preview-frame-waiting):not(.gallery *)')`;

/** What a page was asked for is under way a frame later: it asks once it has drawn what is there. */
const DRAWN = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))))`;

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
    // What was done to reach the page before does not hold for this one.
    await this.page.unrouteAll({ behavior: 'ignoreErrors' });
    await this.page.context().setOffline(false);
    await this.page.setViewportSize(WIDE);
    this.#underWay.clear();
    await this.page.goto(url);
    await this.page.getByRole('heading', { level: 1 }).first().waitFor();
    await this.settled();
  }

  /** Waits until no request is under way and nothing stands for what loads. */
  async settled(): Promise<void> {
    await this.page.evaluate(DRAWN);
    await waitFor('the page to have loaded', async () => this.#underWay.size === 0 && !(await this.page.evaluate(LOADING)));
  }

  /**
   * Returns what is wrong with what is shown: findings of axe in light, dark and high contrast, what does not fit at 400 % zoom
   * and on a phone, and motion. axe looks into the frames that are given, too.
   */
  async findings(frames: readonly Frame[] = []): Promise<string[]> {
    const { page } = this;
    const found = [...(await findingsInEachLook(page, [page, ...frames])), ...(await findingsWhereNarrow(page, page))];
    const moved = await page.evaluate<string[]>('[...movedLong]');
    return [...found, ...moved.map((name) => `moves although nobody wants that: ${name}`)];
  }
}
