/**
 * `make pictures [ONLY="files photos"]` takes the pictures of docs/pictures, from the sample data of a platform of its own.
 * With CARREL_HOME it takes them of the platform there, which is faster to look at what one changes.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { resolveBinary, thisMachine } from '../../pkg/local/binaries/resolve.ts';
import { TenantClient } from '../../pkg/local/demo/sample-data/tenant-client.ts';
import { freePort } from '../../pkg/local/ports.ts';
import { paths } from '../../pkg/local/state-directory.ts';
import { type Picture, PICTURES } from './pages.ts';
import { spreadTimes } from './times.ts';

const root = dirname(dirname(import.meta.dirname));
const folder = join(root, 'docs/pictures');
const TENANT = 'general';
const QUALITY = 82;
const WAIT_MS = 20_000;

/** CSS pixels, and how many dots each of them has. */
const SIZES = {
  wide: { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5 },
  phone: { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
} as const;
const THEMES = ['light', 'dark'] as const;

const only = process.argv.slice(2);
const unknown = only.filter((name) => !PICTURES.some((picture) => picture.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `pictures: there is no ${unknown.join(', ')}. There are: ${PICTURES.map(({ name }) => name).join(', ')}\n`,
  );
  process.exit(1);
}
const wanted = PICTURES.filter(({ name }) => only.length === 0 || only.includes(name));

/** Ids of the sample folders by name, and tokens of links by mode. */
const ids = new Map<string, string>();

const given = process.env['CARREL_HOME'];
const stateDirectory = given ?? join(mkdtempSync(join(tmpdir(), 'carrel-pictures-')), 'state');
const environment = { ...process.env, CARREL_HOME: stateDirectory, CARREL_PORT: '' };
const carrel = (...words: string[]): string =>
  execFileSync(process.execPath, [join(root, 'cmd/carrel/main.ts'), ...words], { env: environment, encoding: 'utf8' });
try {
  if (given === undefined) {
    environment.CARREL_PORT = String(await freePort('127.0.0.1'));
    carrel('up');
  }
  await takePictures();
} finally {
  if (given === undefined) {
    carrel('clean');
    rmSync(dirname(stateDirectory), { recursive: true, force: true });
  }
}

async function takePictures(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const tenant = tenantOf();
  await spreadTimes(stateDirectory, TENANT);
  const browser = await chromium.launch({
    executablePath: await resolveBinary('chromium', thisMachine(root), () => undefined),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [], // Chromium's sandbox refuses root
  });
  let bytes = 0;
  try {
    for (const size of ['wide', 'phone'] as const) bytes += await takeAll(browser, tenant, size);
  } finally {
    await browser.close();
  }
  process.stdout.write(`pictures: ${wanted.length * 4} in docs/pictures, ${Math.round(bytes / 1_024)} KiB\n`);
}

interface Tenant {
  readonly url: string;
  readonly email: string;
  readonly password: string;
}

function tenantOf(): Tenant {
  const kubectl = (...words: string[]): string =>
    execFileSync(
      join(paths(stateDirectory).bin, 'kubectl'),
      ['--kubeconfig', paths(stateDirectory).kubeconfig, '-n', 'carrel-demo', 'get', ...words],
      { encoding: 'utf8' },
    );
  const secret = (key: string): string =>
    Buffer.from(kubectl('secret', `${TENANT}-admin`, '-o', `jsonpath={.data.${key}}`), 'base64').toString('utf8');
  const url = kubectl('tenant', TENANT, '-o', 'jsonpath={.status.appUrl}');
  return { url, email: secret('email'), password: secret('password') };
}

/** Returns the bytes of all pictures. */
async function takeAll(browser: Browser, tenant: Tenant, size: keyof typeof SIZES): Promise<number> {
  const context = await browser.newContext({
    ...SIZES[size],
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(WAIT_MS);
  // What one picture chose, such as cards in place of rows, does not hold for the next.
  await context.addInitScript('localStorage.clear()');
  const [signedOut, signedIn] = [true, false].map((isSignedOut) =>
    wanted.filter((picture) => (picture.isSignedOut ?? false) === isSignedOut),
  );
  let bytes = 0;
  for (const picture of signedOut ?? []) bytes += await take(context, tenant, picture, size);
  await signIn(context, tenant);
  for (const picture of signedIn ?? []) bytes += await take(context, tenant, picture, size);
  await context.close();
  return bytes;
}

async function signIn(context: BrowserContext, { url, email, password }: Tenant): Promise<void> {
  const page = await context.newPage();
  await page.goto(url);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('main').waitFor();
  await page.close();
}

async function take(context: BrowserContext, tenant: Tenant, picture: Picture, size: keyof typeof SIZES): Promise<number> {
  let bytes = 0;
  for (const colorScheme of THEMES) {
    const page = await context.newPage();
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.goto(tenant.url + (await withIds(tenant, picture.path)));
    await page.getByRole('main').waitFor();
    await settled(page);
    await picture.prepare?.(page);
    if (!picture.isBusy) await settled(page);
    await page.mouse.move(0, 0);
    const session = await context.newCDPSession(page);
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    const shown = Buffer.from(data, 'base64');
    writeFileSync(join(folder, `${picture.name}-${size}-${colorScheme}.webp`), shown);
    bytes += shown.length;
    // An upload ends with its page, and does not arrive faster once the page no longer slows it.
    await context.setOffline(picture.isBusy ?? false);
    await page.close();
    await context.setOffline(false);
  }
  process.stderr.write(`  ${picture.name}, ${size}\n`);
  return bytes;
}

/** Waits until the page has loaded what it shows. */
async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  await page.locator('.c-skeleton').first().waitFor({ state: 'detached' });
}

/** Puts the ids of sample folders into an address. */
async function withIds({ url, email, password }: Tenant, path: string): Promise<string> {
  const name = /\{([^}]+)\}/.exec(path)?.[1];
  if (name === undefined) return path;
  if (ids.size === 0) {
    const routerPort = Number(new URL(url).port);
    const client = await TenantClient.signIn({ routerPort, appUrl: url }, { email, password });
    for (const folder of (await client.get('/folders?limit=100')).data) ids.set(folder.name, folder.id);
    for (const link of (await client.get('/shares')).data) if (link.folder_id !== null) ids.set(`${link.mode} link`, link.token);
  }
  const id = ids.get(name);
  if (id === undefined) throw new Error(`the sample data have no ${name}`);
  return path.replace(`{${name}}`, id);
}
