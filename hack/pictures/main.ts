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
import { SAMPLE_TENANT } from '../../pkg/local/demo/sample-data/sample-data.ts';
import { TenantClient } from '../../pkg/local/demo/sample-data/tenant-client.ts';
import { freePort } from '../../pkg/local/ports.ts';
import { paths } from '../../pkg/local/state-directory.ts';
import { addWaitingDeployments } from './deployments.ts';
import { type Picture, PICTURES, type Size } from './pages.ts';
import { fillStorage } from './storage.ts';
import { spreadTimes } from './times.ts';

const root = dirname(dirname(import.meta.dirname));
const folder = join(root, 'docs/pictures');
const { namespace: NAMESPACE, name: TENANT } = SAMPLE_TENANT;
const QUALITY = 82;
const WAIT_MS = 60_000;

/** CSS pixels, and how many dots each of them has. */
const SIZES = {
  wide: { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5 },
  phone: { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
} as const satisfies Record<Size, object>;
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
  await addWaitingDeployments(stateDirectory, { namespace: NAMESPACE, tenant: TENANT }, kubectl);
  await fillStorage(stateDirectory, TENANT);
  const browser = await chromium.launch({
    executablePath: await resolveBinary('chromium', thisMachine(root), () => undefined),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [], // Chromium's sandbox refuses root
  });
  const files: number[] = [];
  try {
    // What is uploaded arrives, and the other pictures are of the sample data.
    for (const isBusy of [false, true])
      for (const size of ['wide', 'phone'] as const) files.push(...(await takeAll(browser, tenant, size, isBusy)));
  } finally {
    await browser.close();
  }
  const kibibytes = Math.round(files.reduce((sum, bytes) => sum + bytes, 0) / 1_024);
  process.stdout.write(`pictures: ${files.length} in docs/pictures, ${kibibytes} KiB\n`);
}

interface Tenant {
  readonly url: string;
  readonly email: string;
  readonly password: string;
}

function kubectl(words: readonly string[], input = ''): string {
  const { bin, kubeconfig } = paths(stateDirectory);
  return execFileSync(join(bin, 'kubectl'), ['--kubeconfig', kubeconfig, '-n', NAMESPACE, ...words], { encoding: 'utf8', input });
}

function tenantOf(): Tenant {
  const get = (...words: string[]): string => kubectl(['get', ...words]);
  const secret = (key: string): string =>
    Buffer.from(get('secret', `${TENANT}-admin`, '-o', `jsonpath={.data.${key}}`), 'base64').toString('utf8');
  const url = get('tenant', TENANT, '-o', 'jsonpath={.status.appUrl}');
  return { url, email: secret('email'), password: secret('password') };
}

/** Returns the bytes of each picture of this size whose page goes on loading, or of each of the others. */
async function takeAll(browser: Browser, tenant: Tenant, size: Size, isBusy: boolean): Promise<number[]> {
  const ofSize = wanted.filter((picture) => (picture.sizes ?? ['wide']).includes(size) && (picture.isBusy ?? false) === isBusy);
  if (ofSize.length === 0) return [];
  const context = await browser.newContext({
    ...SIZES[size],
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(WAIT_MS);
  // What one picture chose, such as cards in place of rows, does not hold for the next.
  await context.addInitScript('localStorage.clear()');
  await spreadTimes(stateDirectory, TENANT);
  const files: number[] = [];
  for (const picture of ofSize.filter(({ isSignedOut }) => isSignedOut))
    files.push(...(await take(context, tenant, picture, size)));
  await signIn(context, tenant);
  await spreadTimes(stateDirectory, TENANT); // the sign-in is in the audit log
  for (const picture of ofSize.filter(({ isSignedOut }) => !isSignedOut))
    files.push(...(await take(context, tenant, picture, size)));
  await context.close();
  return files;
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

async function take(context: BrowserContext, tenant: Tenant, picture: Picture, size: Size): Promise<number[]> {
  const files: number[] = [];
  for (const colorScheme of THEMES) {
    const page = await context.newPage();
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce', contrast: picture.hasContrast ? 'more' : 'no-preference' });
    const session = await context.newCDPSession(page);
    // An upload of the picture before would go on.
    if (picture.isBusy)
      await session.send('Storage.clearDataForOrigin', { origin: new URL(tenant.url).origin, storageTypes: 'indexeddb' });
    await page.goto(tenant.url + (await withIds(tenant, picture.path)));
    await page.getByRole('main').waitFor();
    await settled(page);
    await picture.prepare?.(page);
    if (!picture.isBusy) await settled(page);
    await page.mouse.move(0, 0);
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    const shown = Buffer.from(data, 'base64');
    writeFileSync(join(folder, `${picture.name}-${size}-${colorScheme}.webp`), shown);
    files.push(shown.length);
    // An upload ends with its page, and does not arrive faster once the page no longer slows it.
    await context.setOffline(picture.isBusy ?? false);
    await page.close();
    await context.setOffline(false);
  }
  process.stderr.write(`  ${picture.name}, ${size}\n`);
  return files;
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
