import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startServerProcess } from '../faults/server-process.ts';
import { freePort } from '../support/backends/ports.ts';
import type { TestStores } from '../support/backends/stores.ts';
import { Api } from '../support/clients/api.ts';
import { openBrowser } from '../support/clients/chromium.ts';
import { dragOver, openFiles } from '../support/clients/files-page.ts';
import { startTenant } from '../support/programs/server.ts';
import { range, waitFor } from '../support/wait.ts';
import { byTurns, countOperations, type Line, rateLine } from './measure.ts';

const FILES = 4_000;
/** A round is about a minute long. */
const ROUNDS = 3;
const UPLOADED_MS = 300_000;
const BYTES = 4_096;
const AT_ONCE = 4;
/** At most 1.2 × the time. */
const LEAST = 0.83;
const COUNT_MS = 300;
const START_MS = 1_000;

/**
 * Small files that a person uploads at the page, beside a loop in the same page that sends the same requests and does nothing
 * else; and how soon a dropped folder of 4,000 files shows its count and sends its first request.
 */
export async function pageUploads(stores: TestStores): Promise<Line[]> {
  const tenant = await startTenant({ stores });
  const port = await freePort();
  const server = await startServerProcess(tenant, port);
  const browser = await openBrowser('third-party blocked');
  const scratch = await mkdtemp(join(tmpdir(), 'carrel-bench-'));
  let round = 0;
  try {
    const url = `http://127.0.0.1:${port}`;
    const shown = await openFiles(browser, url, tenant.administrator);
    const { page, panel } = shown;
    await page.evaluate(`window.showOpenFilePicker = undefined; performance.setResourceTimingBufferSize(100_000)`);
    const paths = await filesIn(join(scratch, 'files'), FILES);

    const ours = async (): Promise<number> => {
      round += 1;
      const { body } = await tenant.admin.post('/folders', { name: `round ${round}` });
      // The page opens another folder, and with it a list without uploads that have ended.
      await page.goto(`${url}/files/${body.id}`);
      await page.evaluate(`window.showOpenFilePicker = undefined; performance.setResourceTimingBufferSize(100_000)`);
      await page.getByRole('button', { name: 'Upload', exact: true }).click();
      const choosing = page.waitForEvent('filechooser');
      await page.getByRole('menuitem', { name: 'Upload files' }).click();
      await (await choosing).setFiles(paths);
      await panel.getByText(`${FILES.toLocaleString('en')} files uploaded`).waitFor({ timeout: UPLOADED_MS });
      return rateOf(page);
    };
    const control = async (): Promise<number> => {
      round += 1;
      const { body } = await tenant.admin.post('/folders', { name: `round ${round}` });
      await page.goto(url);
      await page.evaluate(`performance.setResourceTimingBufferSize(100_000)`);
      // A token is of the server's own address.
      const api = await new Api(`${url}/api/v1`).login(tenant.administrator.email, tenant.administrator.password);
      await page.evaluate(bareLoop(body.id, api.token ?? ''));
      return rateOf(page);
    };
    const measured = await byTurns(ours, control, { rounds: ROUNDS });

    await page.goto(url);
    await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();
    await page.evaluate(WATCH_DROP);
    const drop = await dragOver(shown, join(scratch, 'files'));
    await drop();
    // The policy of the page refuses what waitForFunction needs.
    const seen = await waitFor('the count and the first request', async () => {
      const { drop: at, count, request } = await page.evaluate<{ drop: number; count?: number; request?: number }>('window.seen');
      return count !== undefined && request !== undefined && { drop: at, count, request };
    });

    return [
      rateLine(`${FILES} files of 4 KiB at the page`, measured, 'a bare loop of the same requests', LEAST),
      soonLine(`${FILES} dropped files: first count`, seen.count - seen.drop, COUNT_MS),
      soonLine(`${FILES} dropped files: first request`, seen.request - seen.drop, START_MS),
    ];
  } finally {
    await browser.close();
    await server.end('SIGTERM');
    await tenant.stop();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function filesIn(folder: string, count: number): Promise<string[]> {
  await mkdir(folder);
  const paths = range(count).map((n) => join(folder, `${n}.txt`));
  await Promise.all(paths.map((path) => writeFile(path, Buffer.alloc(BYTES, 'carrel'))));
  return paths;
}

/** Uploads a second, from the first request to the last reply. */
async function rateOf(page: Page): Promise<number> {
  const { requests, ms } = await page.evaluate<{ requests: number; ms: number }>(`(() => {
    const all = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/api/v1/files'));
    const [from, to] = [Math.min(...all.map((one) => one.startTime)), Math.max(...all.map((one) => one.responseEnd))];
    return { requests: all.length, ms: to - from };
  })()`);
  if (requests !== FILES) throw new Error(`${requests} uploads were sent, not ${FILES}`);
  countOperations(FILES);
  return (FILES * 1_000) / ms;
}

const bareLoop = (folderId: string, token: string): string => `(async () => {
  const files = Array.from({ length: ${FILES} }, (_, n) => new File([new Uint8Array(${BYTES}).fill(99)], n + '.txt'));
  const loop = async () => {
    for (let file = files.pop(); file; file = files.pop()) {
      const body = new FormData();
      body.set('folder_id', '${folderId}');
      body.set('on_conflict', 'fail');
      body.set('file', file, file.name);
      const headers = { authorization: 'Bearer ${token}', 'idempotency-key': crypto.randomUUID() };
      const reply = await fetch('/api/v1/files', { method: 'POST', headers, body });
      if (reply.status !== 201) throw new Error('the upload was answered ' + reply.status);
      await reply.json();
    }
  };
  await Promise.all(Array.from({ length: ${AT_ONCE} }, loop));
})()`;

const WATCH_DROP = `
  window.seen = {};
  addEventListener('drop', () => (window.seen.drop = performance.now()), { capture: true });
  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries())
      if (name.endsWith('/api/v1/folders') && window.seen.drop) window.seen.request ??= startTime;
  }).observe({ type: 'resource' });
  new MutationObserver(() => {
    if (/\\d/.test(document.querySelector('.upload-title')?.textContent ?? '')) window.seen.count ??= performance.now();
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
`;

const soonLine = (what: string, ms: number, limit: number): Line => ({
  what,
  ours: `${Math.round(ms)} ms`,
  control: '',
  target: `≤ ${limit} ms`,
  met: ms <= limit,
});
