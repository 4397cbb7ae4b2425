import type { Page } from 'playwright-core';
import { waitFor } from '../wait.ts';

/** What the server answers when a page looks at the entries of a folder again. */
export interface Look {
  /** 304: nothing has changed. */
  readonly status: number;
  /** Milliseconds, of a clock that never goes back. */
  readonly at: number;
  /** When the page asked, in ms since 1970. */
  readonly askedAt: number;
}

export const isLook = (url: string): boolean => /\/api\/v1\/folders\/[^/]+\/children/.test(url);

/** The answers to a page's requests for the entries of folders, from now on. */
export function looksOf(page: Page): readonly Look[] {
  const looks: Look[] = [];
  page.on('response', (reply) => {
    if (!isLook(reply.url())) return;
    looks.push({ status: reply.status(), at: performance.now(), askedAt: reply.request().timing().startTime });
  });
  return looks;
}

/** The names of the list that a page shows, in their order. */
const namesOn = (page: Page): Promise<string> =>
  page.evaluate(`[...document.querySelectorAll('[role=rowheader] .files-open')].map((name) => name.textContent).join()`);

/**
 * Waits until a page shows these names alone, separated by commas. Returns how many looks that it takes from now on have found
 * nothing before that: none, where the change has been made before. `looks`: those of this page.
 */
export async function vainLooksUntil(page: Page, looks: readonly Look[], names: string): Promise<number> {
  const [before, since] = [looks.length, Date.now()];
  await waitFor(`the names ${names}`, async () => (await namesOn(page)) === names);
  const answers = looks.slice(before);
  const news = answers.findIndex(({ status }) => status !== 304);
  // The answer to an earlier look may come only now, and another look may follow before the names are seen here.
  return answers.filter(({ askedAt }, at) => at < news && askedAt > since).length;
}
