import type { Page } from 'playwright-core';

export interface LostReplies {
  /** The number of replies that have not arrived: the server has these files, and the page does not know. */
  readonly lost: () => number;
  /** Lets later replies through. Those that were lost stay so. */
  readonly end: () => void;
}

/** Lets so many replies to small files through, and no further ones. */
export async function loseReplies(page: Page, { after }: { readonly after: number }): Promise<LostReplies> {
  const devtools = await page.context().newCDPSession(page);
  let [answered, lost, isLosing] = [0, 0, true];
  devtools.on('Fetch.requestPaused', ({ requestId, request }) => {
    if (isLosing && request.method === 'POST') {
      answered += 1;
      if (answered > after) return void (lost += 1);
    }
    devtools.send('Fetch.continueRequest', { requestId }).catch(() => undefined); // its page may have gone
    return undefined;
  });
  await devtools.send('Fetch.enable', { patterns: [{ urlPattern: '*/api/v1/files', requestStage: 'Response' }] });
  return { lost: () => lost, end: () => (isLosing = false) };
}
