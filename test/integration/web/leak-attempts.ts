import type { Frame, Page } from 'playwright-core';
import type { TestBrowser } from '../../support/clients/chromium.ts';
import { type Listener, listenByTcp, listenByUdp } from '../../support/clients/listener.ts';
import { LEAKS } from '../../support/data/leaks.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { waitFor, within } from '../../support/wait.ts';
import { openSignedIn } from './app-pages.ts';

/** The frame of a preview, or a frame that nothing holds back: what does not arrive from there proves nothing. */
type From = 'preview' | 'anywhere';

/** On a slow machine the preload of a font once did not come from a page with all these frames, though nothing held it back. */
const TRIES = 3;
const ARRIVAL_LIMIT_MS = 20_000;

/** Playwright itself has no limit for scripts. */
const SCRIPT_LIMIT_MS = 60_000;

/** Names below `localhost` are this machine, without a name server. */
const hostOf = (name: string, from: From): string => `${name.toLowerCase().replaceAll(' ', '-')}.${from}.localhost`;

const isPreview = (frame: Frame): boolean => /\/preview-frame(#.*)?$/.test(frame.url());

/** Tries ways out of a frame in one browser, each towards a port of its own. */
export class LeakAttempts {
  readonly #tenant: TestTenant;
  readonly #browser: TestBrowser;
  readonly #names: readonly string[];
  readonly #listeners: Readonly<Record<From, Map<string, Listener>>> = { preview: new Map(), anywhere: new Map() };

  /** `names`: of LEAKS. */
  constructor(tenant: TestTenant, browser: TestBrowser, names: readonly string[]) {
    this.#tenant = tenant;
    this.#browser = browser;
    this.#names = names;
  }

  /** Tries all ways from both frames. `lookedUp`: the names that the browser has looked up so far. */
  async make(lookedUp: () => Promise<ReadonlySet<string>>): Promise<Record<From, string[]>> {
    await this.#listen();
    try {
      const missing = async (): Promise<string[]> => {
        const arrived = await this.#arrived('anywhere', lookedUp);
        return this.#names.filter((name) => !arrived.includes(name));
      };
      await this.#inPreviews();
      // Once these have arrived, so has what left the preview before.
      for (let tried = 0, names = this.#names; tried < TRIES && names.length > 0; tried += 1, names = await missing()) {
        await this.#anywhere(names);
        const all = waitFor('all', async () => (await missing()).length === 0, ARRIVAL_LIMIT_MS);
        await all.catch(() => undefined); // the lists say which did not come
      }
      return { anywhere: await this.#arrived('anywhere', lookedUp), preview: await this.#arrived('preview', lookedUp) };
    } finally {
      for (const each of Object.values(this.#listeners)) for (const listener of each.values()) listener.stop();
    }
  }

  async #listen(): Promise<void> {
    for (const each of Object.values(this.#listeners)) {
      for (const name of this.#names) each.set(name, await (LEAKS[name]?.by === 'udp' ? listenByUdp() : listenByTcp()));
    }
  }

  /** The names of the ways by which something has arrived. */
  async #arrived(from: From, lookedUp: () => Promise<ReadonlySet<string>>): Promise<string[]> {
    const hosts = await lookedUp();
    return this.#names.filter((name) => {
      const counts = from === 'preview' || LEAKS[name]?.by === 'lookup';
      return this.#listeners[from].get(name)?.hasHeard() || (counts && hosts.has(hostOf(name, from)));
    });
  }

  async #try(frame: Frame, name: string, from: From): Promise<void> {
    const address = `http://${hostOf(name, from)}:${this.#listeners[from].get(name)?.port}/`;
    const script = `(() => {
      const address = '${address}';
      try { ${LEAKS[name]?.script} } catch { /* refused */ }
    })()`;
    await within(`the end of the script for ${name} (${from})`, frame.evaluate(script), SCRIPT_LIMIT_MS);
  }

  #moving(what: 'frame' | 'page' | undefined, names = this.#names): string[] {
    return names.filter((name) => LEAKS[name]?.moves === what);
  }

  async #inPreviews(): Promise<void> {
    const page = await this.#openPreview();
    const frame = await previewOf(page);
    for (const name of [...this.#moving(undefined), ...this.#moving('page')]) await this.#try(frame, name, 'preview');
    const other = await this.#openPreview();
    for (const name of this.#moving('frame')) {
      await this.#try(await previewOf(other), name, 'preview');
      await waitFor(`the frame to be refused another address by ${name}`, () => !other.frames().some(isPreview), SCRIPT_LIMIT_MS);
      await other.reload();
    }
  }

  /** A page of a new person, with the preview of a file. */
  async #openPreview(): Promise<Page> {
    const { api, user, password } = await this.#tenant.user();
    await api.upload('/files', { name: 'a.md', type: 'text/markdown', file: Buffer.from('text') });
    const page = await openSignedIn(this.#browser, this.#tenant, { email: user.email, password });
    await page.getByRole('button', { name: 'a.md', exact: true }).click();
    return page;
  }

  async #anywhere(names: readonly string[]): Promise<void> {
    const around = await listenByTcp();
    try {
      const page = await this.#browser.page();
      await page.goto(`http://127.0.0.1:${around.port}/`);
      for (const name of [...this.#moving(undefined, names), ...this.#moving('frame', names)]) {
        await this.#try(await addFrame(page, name), name, 'anywhere');
      }
      for (const name of this.#moving('page', names)) {
        const moved = await this.#browser.page();
        await moved.goto(`http://127.0.0.1:${around.port}/`);
        await this.#try(await addFrame(moved, name), name, 'anywhere');
      }
    } finally {
      around.stop();
    }
  }
}

/** The frame of a preview once its file is on the screen. */
async function previewOf(page: Page): Promise<Frame> {
  await page.locator('iframe:not(.preview-frame-waiting)').waitFor();
  return waitFor('the frame of the preview', () => page.frames().find(isPreview));
}

/** Adds an empty frame of the page's own origin. */
async function addFrame(page: Page, name: string): Promise<Frame> {
  const path = `/${hostOf(name, 'anywhere')}`;
  const add = `void document.body.append(Object.assign(document.createElement('iframe'), { src: '${path}' }))`;
  await within(`a frame for ${name}`, page.evaluate(add), SCRIPT_LIMIT_MS);
  return waitFor(`the frame for ${name}`, () => page.frames().find((frame) => frame.url().endsWith(path)));
}
