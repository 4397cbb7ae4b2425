import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PDFName, PDFString } from '@cantoo/pdf-lib';
import type { Frame, Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { HOSTILE_PDFS } from '../../support/data/hostile-pdfs.ts';
import { encryptedPdf, textPdf } from '../../support/data/pdfs.ts';
import { scannedPdf } from '../../support/data/scanned-pdf.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { isTypedInto, NARROW, openSignedIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

interface Sent {
  readonly name: string;
  readonly type: string;
  readonly file: Buffer;
}

const markdown = (name: string, content: string): Sent => ({ name, type: 'text/markdown', file: Buffer.from(content) });
const pdf = (name: string, bytes: Uint8Array): Sent => ({ name, type: 'application/pdf', file: Buffer.from(bytes) });

/** A page on which a new person has opened the first of these files. Requests that were answered are noted. */
async function opened(...files: Sent[]): Promise<{ page: Page; asked: string[]; faults: string[] }> {
  const { api, user, password } = await tenant.user();
  for (const { name, type, file } of files) await api.upload('/files', { name, type, file });
  const page = await openSignedIn(browser, tenant, { email: user.email, password });
  const asked: string[] = [];
  const faults: string[] = [];
  // What the policy blocks is begun, but gets no reply.
  page.on('response', (reply) => void asked.push(reply.url()));
  page.on('pageerror', (error) => void faults.push(error.message));
  await page.getByRole('button', { name: files[0]?.name ?? '', exact: true }).click();
  return { page, asked, faults };
}

const preview = (page: Page): Locator => page.getByRole('dialog');
const shown = (page: Page) => page.frameLocator('iframe');

/** The frame once its file is on the screen. */
async function frameOf(page: Page): Promise<Frame> {
  await page.locator('iframe:not(.preview-frame-waiting)').waitFor();
  return waitFor('the frame', () => page.frames().find((frame) => frame.url().endsWith('/preview-frame')));
}

test('Markdown is shown as what it says, and its source on request', async () => {
  const text = [
    '# Cells',
    '',
    'A *first* `code` &amp; [a site](https://example.org/a)',
    '',
    '- [x] read',
    '- two',
    '',
    '| a | b |',
    '|---|--:|',
    '| 1 | 2 |',
  ];
  const { page, faults } = await opened(markdown('notes.md', text.join('\n')));
  await shown(page).getByRole('heading', { name: 'Cells' }).waitFor();
  await shown(page).getByText('A first code & a site').waitFor();
  const cells = await shown(page).getByRole('cell').allTextContents();
  await preview(page).getByRole('button', { name: 'Show source' }).click();
  await preview(page).getByText('# Cells').waitFor();
  await preview(page).getByRole('button', { name: 'Show formatted' }).click();
  await shown(page).getByRole('checkbox', { name: 'Done', exact: true }).waitFor();

  expect([cells, faults]).toEqual([['1', '2'], []]);
});

test('keys of the preview work while the focus is in the frame', async () => {
  const { page } = await opened(markdown('a.md', 'first'), markdown('b.md', 'second'));
  await shown(page).getByText('first').click();
  await page.keyboard.press('ArrowRight');
  await shown(page).getByText('second').click();
  await page.keyboard.press('Escape');
  await preview(page).waitFor({ state: 'detached' });
});

test('arrows go through files of every kind without a click', async () => {
  const { page } = await opened(
    markdown('a.md', 'in Markdown'),
    pdf('b.pdf', await (await textPdf('in a PDF')).save()),
    { name: 'c.txt', type: 'text/plain', file: Buffer.from('in a text') },
    pdf('d.pdf', await (await textPdf('in the last PDF')).save()),
  );
  await shown(page).getByText('in Markdown').waitFor();
  await page.keyboard.press('ArrowRight');
  await shown(page).getByText('in a PDF').waitFor();
  await page.keyboard.press('ArrowRight');
  await preview(page).getByText('in a text').waitFor();
  await page.keyboard.press('ArrowRight');
  await shown(page).getByText('in the last PDF').waitFor();
  await page.keyboard.press('ArrowLeft');
  await preview(page).getByText('in a text').waitFor();

  expect(await preview(page).getByText('3 of 4').count()).toBe(1);
});

test('a link of a file is opened only when somebody has seen where it leads', async () => {
  const { page } = await opened(markdown('a.md', '[harmless](https://example.org/evil?x=1) [script](javascript:top.ran=true)'));
  await shown(page).getByRole('link', { name: 'harmless' }).click();
  const question = page.getByRole('alertdialog');
  const open = question.getByRole('link', { name: 'Open' });

  await question.getByText('https://example.org/evil?x=1').waitFor();
  expect([await open.getAttribute('href'), await open.getAttribute('rel'), await open.getAttribute('target')]).toEqual([
    'https://example.org/evil?x=1',
    'noopener noreferrer',
    '_blank',
  ]);
  expect(await shown(page).getByRole('link').count()).toBe(1);
});

test('hostile Markdown runs nothing, loads nothing and names no address of its own', async () => {
  const text = [
    '<script>top.ran = true</script>',
    '<img src="/stolen" onerror="top.ran = true">',
    '![a picture](https://example.org/stolen)',
    '<iframe src="/stolen"></iframe><style>@import "/stolen"</style>',
    '[x](javascript:top.ran=true) <javascript:top.ran=true>',
    '<svg onload="top.ran=true"><a href="javascript:1">y</a></svg>',
    `${'> '.repeat(3_000)}deep`,
    'last',
  ];
  const { page, asked } = await opened(markdown('evil.md', text.join('\n\n')));
  await waitFor('the text, or its refusal', () =>
    page.evaluate(`!!document.querySelector('iframe:not(.preview-frame-waiting), .preview-card')`),
  );
  const frame = page.frames().find((each) => each.url().endsWith('/preview-frame'));
  const tags = await frame?.evaluate(`[...document.querySelectorAll('#app :is(script, iframe, style, img, svg)')].length`);

  expect([tags ?? 0, await page.evaluate('window.ran'), asked.filter((url) => /stolen/.test(url))]).toEqual([0, undefined, []]);
});

test('pages of a PDF are drawn as they come into view, with text to select, and enlarged by keys', async () => {
  const { page, faults } = await opened(pdf('book.pdf', await (await textPdf('The teacher reads a book.', 30)).save()));
  const frame = await frameOf(page);
  await shown(page).getByText('The teacher reads a book.').first().waitFor();
  const drawn = await frame.evaluate('document.querySelectorAll("canvas").length');
  const width = (): Promise<number> => frame.evaluate('document.querySelector(".pdf-page").clientWidth');
  const fitted = await width();
  await page.keyboard.press('+');
  await waitFor('larger pages', async () => (await width()) > fitted);
  await page.keyboard.press('End');
  await shown(page).getByText('30 of 30').waitFor();
  await waitFor('the last page', () => frame.evaluate(`!!document.querySelector('[data-page="30"] canvas')`));

  expect(drawn).toBeLessThan(6);
  expect(faults).toEqual([]);
});

test('pages far from the screen are thrown away, with what was decoded for them', async () => {
  const { page } = await opened(pdf('scans.pdf', await scannedPdf(40)));
  const frame = await frameOf(page);
  await waitFor('the first page', () => frame.evaluate(`!!document.querySelector('[data-page="1"] canvas')`));
  await frame.evaluate(`{
    const { close } = ImageBitmap.prototype;
    window.freed = 0;
    ImageBitmap.prototype.close = function () { window.freed += 1; close.call(this); };
  }`);
  await page.keyboard.press('End');
  await waitFor('the last page', () => frame.evaluate(`!!document.querySelector('[data-page="40"] canvas')`));
  await waitFor('the first page to be thrown away', () =>
    frame.evaluate(`!document.querySelector('[data-page="1"] canvas') && window.freed > 0`),
  );

  expect(await frame.evaluate(`document.querySelectorAll('canvas').length`)).toBeLessThan(8);
});

test('a locked PDF asks for its password until it is right', async () => {
  const { page } = await opened(pdf('locked.pdf', await encryptedPdf()));
  const field = shown(page).getByLabel('Password', { exact: true });
  await field.waitFor();
  await waitFor('the field to have the focus', () => isTypedInto(field));
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await shown(page).getByText('The password is wrong.').waitFor();
  await field.fill('user');
  await shown(page).getByRole('button', { name: 'Unlock' }).click();

  await shown(page).getByText('The teacher reads a book.').waitFor();
});

test('links of a PDF lead to its pages, and to the web when somebody has seen the address', async () => {
  const document = await textPdf('The teacher reads a book.', 20);
  const { context } = document;
  const place = { Type: 'Annot', Subtype: 'Link' };
  const links = [
    { ...place, Rect: [60, 600, 300, 650], A: { S: 'URI', URI: PDFString.of('https://example.org/book?x=1') } },
    { ...place, Rect: [60, 500, 300, 550], Dest: [document.getPage(14).ref, 'Fit'] },
    { ...place, Rect: [60, 400, 300, 450], A: { S: 'Launch', F: PDFString.of('/bin/sh') } },
  ];
  document.getPage(0).node.set(PDFName.of('Annots'), context.obj(links));
  const { page } = await opened(pdf('book.pdf', await document.save()));
  await shown(page).getByRole('link', { name: 'https://example.org/book?x=1' }).click();
  await page.getByRole('alertdialog').getByText('https://example.org/book?x=1').waitFor();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  const places = await shown(page).getByRole('button', { name: 'Go to this place' }).count();
  await shown(page).getByRole('button', { name: 'Go to this place' }).click();

  await shown(page).getByText('15 of 20').waitFor();
  expect(places).toBe(1);
});

test('a scan is decoded in the frame, by a decoder that the page hands in', async () => {
  const { page, asked } = await opened(pdf('scan.pdf', await scannedPdf()));
  const frame = await frameOf(page);
  await waitFor('black points', () =>
    frame.evaluate(`(canvas => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      // Points of a canvas on which nothing is drawn yet are black too, and transparent.
      return data.some((value, at) => at % 4 === 0 && value < 60 && data[at + 3] === 255);
    })(document.querySelector('canvas'))`),
  );

  expect(asked.filter((url) => url.endsWith('.wasm')).length).toBe(1);
});

test('a PDF with scripts and addresses runs nothing and asks for nothing', async () => {
  const document = await textPdf();
  document.addJavaScript('start', `app.launchURL('${tenant.url}/stolen'); this.submitForm('${tenant.url}/stolen')`);
  const action = { S: 'URI', URI: PDFString.of(`${tenant.url}/stolen`) };
  document.catalog.set(PDFName.of('OpenAction'), document.context.obj({ Type: 'Action', ...action }));
  const link = {
    Type: 'Annot',
    Subtype: 'Link',
    Rect: [0, 0, 595, 842],
    A: { S: 'URI', URI: PDFString.of('javascript:top.ran=true') },
  };
  document.getPage(0).node.set(PDFName.of('Annots'), document.context.obj([link]));
  const { page, asked } = await opened(pdf('evil.pdf', await document.save()));
  await shown(page).getByText('The teacher reads a book.').waitFor();

  expect(await shown(page).getByRole('link').count()).toBe(0);
  expect([await page.evaluate('window.ran'), asked.filter((url) => /stolen/.test(url))]).toEqual([undefined, []]);
});

test('a script in the frame reaches neither the page nor the session, storage or a server', async () => {
  const { page, asked } = await opened(markdown('a.md', 'text'));
  const frame = await frameOf(page);
  const address = JSON.stringify(`${tenant.url}/api/v1/stolen`);
  /** `allowed` for what it could do; else why not. */
  const tried = await frame.evaluate<Record<string, string>>(`(async () => {
    const loaded = (element, attribute) => new Promise((give, fail) => {
      Object.assign(element, { onload: give, onerror: () => fail(new Error('blocked')) })[attribute] = ${address};
      document.head.append(element);
    });
    const attempts = {
      origin: () => self.origin === 'null' || 'an origin',
      page: () => parent.document.title,
      storage: () => localStorage.length,
      cookies: () => document.cookie,
      database: () => indexedDB.open('x'),
      caches: () => caches.open('x'),
      fetch: () => fetch(${address}),
      beacon: () => navigator.sendBeacon(${address}) && Promise.reject(new Error('queued')),
      picture: () => loaded(new Image(), 'src'),
      script: () => loaded(document.createElement('script'), 'src'),
      style: () => loaded(Object.assign(document.createElement('link'), { rel: 'stylesheet' }), 'href'),
      socket: () => new Promise((give, fail) => {
        const socket = new WebSocket(${address}.replace('http', 'ws'));
        Object.assign(socket, { onopen: give, onerror: () => fail(new Error('blocked')) });
      }),
      evaluation: () => new Function('return 1')(),
      window: () => open(${address}) === null ? Promise.reject(new Error('blocked')) : 1,
      top: () => { top.location = ${address}; },
    };
    const results = {};
    for (const [name, attempt] of Object.entries(attempts)) {
      if (name === 'origin') { results[name] = String(attempt()); continue; }
      try { await attempt(); results[name] = 'allowed'; } catch { results[name] = 'refused'; }
    }
    return results;
  })()`);
  // Last, since the frame is gone afterwards.
  await frame.evaluate(`void (location.href = ${address})`);
  await waitFor('the frame to be refused another address', () =>
    page.frames().every((each) => !each.url().endsWith('/preview-frame')),
  );

  expect(tried).toEqual({
    origin: 'true',
    ...Object.fromEntries(
      [
        'page',
        'storage',
        'cookies',
        'database',
        'caches',
        'fetch',
        'beacon',
        'picture',
        'style',
        'socket',
        'script',
        'evaluation',
        'window',
        'top',
      ].map((name) => [name, 'refused']),
    ),
  });
  expect(asked.filter((url) => /stolen/.test(url))).toEqual([]);
  expect(new URL(page.url()).pathname).toBe('/');
});

test('only the tenant’s own pages may frame the document, and its files are the same for all', async () => {
  const reply = await fetch(`${tenant.url}/preview-frame`);
  const policy = reply.headers.get('content-security-policy') ?? '';
  const [script = ''] = /\/assets\/frame-[^"]+\.js/.exec(await reply.text()) ?? [];
  const file = await fetch(`${tenant.url}${script}`);

  expect(policy).toContain(`frame-ancestors ${new URL(tenant.apiUrl).origin}`);
  expect(policy).toMatch(/^sandbox allow-scripts; default-src 'none'; /);
  expect(policy).toContain("connect-src 'none'");
  expect(reply.headers.get('connection-allowlist')).toBe(`("${tenant.url}/assets/*")`);
  expect(file.headers.get('access-control-allow-origin')).toBe('*');
});

test('each hostile PDF is shown or refused, and the preview goes on to the next file', async () => {
  const files = HOSTILE_PDFS.map(([, make], index) => pdf(`${String(index).padStart(2, '0')}.pdf`, make()));
  const { page, faults } = await opened(...files);
  const ended: string[] = [];
  for (const { name } of files) {
    await preview(page).getByRole('heading', { name }).waitFor();
    ended.push(
      await waitFor(`${name} to be shown or refused`, () =>
        page.evaluate<string>(`(
          document.querySelector('iframe:not(.preview-frame-waiting)') ? 'shown' :
          document.querySelector('.preview-card') ? 'refused' : undefined)`),
      ),
    );
    if (name !== files.at(-1)?.name) await preview(page).getByRole('button', { name: 'Next file' }).click();
  }

  expect(ended.length).toBe(files.length);
  expect(faults).toEqual([]);
}, 400_000);

test.each([
  [
    'Markdown',
    markdown('a.md', '# A title\n\nText with `code`.\n\n```\nlong code\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![x](/x.png)'),
  ],
  ['a PDF', undefined],
])('axe finds nothing in the frame of %s in light and dark, and at 400 %% zoom nothing is cut off', async (_what, given) => {
  const { page } = await opened(given ?? pdf('a.pdf', await (await textPdf('The teacher reads a book.', 2)).save()));
  const frame = await frameOf(page);
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)), ...(await axeFindings(frame)));
  }
  await page.setViewportSize(NARROW);
  await waitFor('nothing to be cut off', () =>
    frame.evaluate(`[document.documentElement, document.querySelector('main')]
      .every((box) => box.scrollWidth <= box.clientWidth)`),
  );

  expect(found).toEqual([]);
});
