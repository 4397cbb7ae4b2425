import { readdirSync, readFileSync } from 'node:fs';
import type { CDPSession, Page } from 'playwright-core';
import { median } from '../faults/latency.ts';
import { startServerProcess } from '../faults/server-process.ts';
import { freePort } from '../support/backends/ports.ts';
import type { TestStores } from '../support/backends/stores.ts';
import { openBrowser } from '../support/clients/chromium.ts';
import { openFiles } from '../support/clients/files-page.ts';
import { isThis, statusOf } from '../support/measures/resident.ts';
import { startTenant } from '../support/programs/server.ts';
import { range, waitFor } from '../support/wait.ts';
import { fillWithFiles, type Span } from './filled.ts';
import { byTurns, costLine, type Line, progress } from './measure.ts';

const [FEW, MANY] = [1_000, 100_000];
/** As the developer tools of Chromium: 1.44 Mbit/s with 562 ms for a round trip. */
const FAST_3G = { offline: false, latency: 562.5, downloadThroughput: 188_744, uploadThroughput: 86_400 };
/** 400 kbit/s with 400 ms for a round trip. */
const SLOW_3G = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const UNLIMITED = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
const CPU_SLOWER = 4;
const FIRST_VIEW_BYTES = 120_000;
/** Until a list of 1,000 files can be used, on fast 3G with a slow processor, and on slow 3G. */
const USABLE_MS = 5_000;
const END_MS = 200;
/** 1,000,000 bytes each. */
const MEMORY_MB = 150;
const ROUNDS = 5;

/**
 * A folder of 1,000 and one of 100,000 files at the page: what the first view weighs and how soon the list can be used with an
 * empty cache on a slow connection and processor; how soon the End key is at the last file; and how much memory all this takes.
 */
export async function pageLists(stores: TestStores): Promise<Line[]> {
  const tenant = await startTenant({ stores });
  const port = await freePort();
  const server = await startServerProcess(tenant, port);
  const browser = await openBrowser('third-party blocked');
  try {
    const url = `http://127.0.0.1:${port}`;
    const [few, many] = [await tenant.user(), await tenant.user()];
    progress(`writing ${MANY} files`);
    await fillWithFiles(stores, tenant, few.user.email, inOneFolder(FEW));
    await fillWithFiles(stores, tenant, many.user.email, inOneFolder(MANY));
    // The one with many files may read the folder of the other, so that one session opens both.
    const folders = await Promise.all(
      [few, many].map(async ({ api }) => (await api.get('/folders', { query: { q: 'folder 0' } })).body.data[0].id as string),
    );
    const [small = '', large = ''] = folders;
    await few.api.post(`/folders/${small}/permissions`, { user_id: many.user.id, permission_level: 'read' });

    const { page, devtools } = await openFiles(browser, url, { email: many.user.email, password: many.password });
    await page.addInitScript(WATCH_LIST);
    const sizes: number[] = [];
    const cold = (folder: string) => async (): Promise<number> => {
      await throttle(devtools, FAST_3G, CPU_SLOWER);
      const { ms, bytes } = await openList(page, `${url}/files/${folder}`);
      sizes.push(bytes);
      return ms;
    };
    const usable = await byTurns(cold(large), cold(small), { own: true });
    const views: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await throttle(devtools, SLOW_3G, 1);
      views.push((await openList(page, `${url}/files/${small}`)).ms);
    }
    await throttle(devtools, UNLIMITED, 1);

    const ends: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) ends.push(await endKeyMs(page, `${url}/files/${large}`));
    for (const key of ['Home', 'End', ...range(30).map(() => 'PageUp')]) await page.keyboard.press(key);
    await devtools.send('HeapProfiler.collectGarbage');
    const mb = rendererMb();

    return [
      below('first view of the files, compressed', Math.max(...sizes), FIRST_VIEW_BYTES, 'bytes'),
      costLine(
        `list of ${MANY} files can be used, empty cache, fast 3G, CPU ${CPU_SLOWER} × slower`,
        usable,
        `one of ${FEW}`,
        1.2,
        'ms',
      ),
      below(
        `list of ${FEW} files can be used, empty cache, fast 3G, CPU ${CPU_SLOWER} × slower, median`,
        usable.control,
        USABLE_MS,
        'ms',
      ),
      below(`list of ${FEW} files can be used, empty cache, slow 3G, median`, median(views), USABLE_MS, 'ms'),
      below(`End key in ${MANY} files, median`, median(ends), END_MS, 'ms'),
      below(`memory of the page with ${MANY} files`, mb, MEMORY_MB, 'MB'),
    ];
  } finally {
    await browser.close();
    await server.end('SIGTERM');
    await tenant.stop();
  }
}

/** `fillWithFiles` chooses a folder by the last digit of a number. */
const inOneFolder = (count: number): Span[] => range(count).map((n): Span => [10 * (n + 1), 10 * (n + 1)]);

/** Notes when the first row of a list is on the screen and the page has time for a key again. */
const WATCH_LIST = `
  new MutationObserver((_, observer) => {
    if (!document.querySelector('.c-grid-body [role=rowheader]')) return;
    observer.disconnect();
    performance.setResourceTimingBufferSize(10_000);
    requestAnimationFrame(() => setTimeout(() => (window.listAt = performance.now())));
  }).observe(document, { subtree: true, childList: true });
`;

/** Empties the browser's cache, and makes its connection and its processor slower. */
async function throttle(devtools: CDPSession, connection: typeof UNLIMITED, cpu: number): Promise<void> {
  await devtools.send('Network.enable');
  await devtools.send('Network.clearBrowserCache');
  await devtools.send('Network.emulateNetworkConditions', connection);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpu });
}

/** Opens a list. Returns when it could be used, and the bytes of scripts, styles and fonts that had come by then. */
async function openList(page: Page, url: string): Promise<{ ms: number; bytes: number }> {
  await page.goto(url, { waitUntil: 'commit' });
  const ms = await waitFor('the list', () => page.evaluate<number | undefined>('window.listAt'));
  const bytes = await page.evaluate<number>(`performance.getEntries()
    .filter(({ name, responseEnd }) => !name.includes('/api/') && responseEnd <= window.listAt)
    .reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0)`);
  return { ms, bytes };
}

/** Milliseconds from the End key in a list that was just opened until the focus is on its last file. */
async function endKeyMs(page: Page, url: string): Promise<number> {
  await page.goto(url);
  await page
    .locator('.c-grid-body [role=rowheader]')
    .first()
    .click({ position: { x: 2, y: 2 } });
  await page.evaluate(`(() => {
    const look = () => {
      if (document.activeElement?.textContent?.startsWith('${10 * MANY}.txt')) window.endAt = performance.now();
      else requestAnimationFrame(look);
    };
    addEventListener('keydown', () => { window.keyAt = performance.now(); look(); }, { capture: true, once: true });
  })()`);
  await page.keyboard.press('End');
  return waitFor('the last file', () => page.evaluate<number | undefined>('window.endAt && window.endAt - window.keyAt'));
}

/** Proportional set size of the largest renderer that this process started, in 1,000,000 bytes. */
function rendererMb(): number {
  const isBelow = (pid: string): boolean => isThis(pid) || (Number(pid) > 1 && isBelow(statusOf(pid, 'PPid')));
  const sizes = readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && textOf(`/proc/${pid}/cmdline`).includes('--type=renderer') && isBelow(pid))
    .map((pid) => (Number(/^Pss:\s+(\d+)/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1_024) / 1_000_000);
  return Math.max(...sizes);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // it has ended
  }
}

const below = (what: string, value: number, limit: number, unit: string): Line => ({
  what,
  ours: `${Math.round(value)} ${unit}`,
  control: '',
  target: `≤ ${limit} ${unit}`,
  met: value <= limit,
});
