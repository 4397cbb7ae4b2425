import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { NARROW, openSignedIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

/** Something that one administrator changes in a form while another changes it too. */
interface Thing {
  /** Of its page. */
  readonly page: string;
  /** Of the API. */
  readonly resource: string;
  readonly menu: string;
  /** What another administrator names it. Groups have names of their own. */
  readonly theirs: string;
  /** The label of the field in which its name is. */
  readonly label: string;
  /** The name's field in the API. */
  readonly field: 'display_name' | 'name' | 'description';
}

let made = 0;
/** A name that nothing else has. */
const unique = (name: string): string => `${name} ${(made += 1)}`;
const FORM = { menu: 'More actions', label: 'Name', field: 'name' } as const;
const madeOf = async (path: string, body: object): Promise<string> => (await tenant.admin.post(path, body)).body.id;

const THINGS: Readonly<Record<'person' | 'group' | 'schedule' | 'webhook', () => Promise<Thing>>> = {
  person: async () => {
    const theirs = unique('Theirs');
    const { id } = (await tenant.user()).user;
    const label = 'Name that others see (optional)';
    return { ...FORM, page: `/admin/people/${id}`, resource: `/users/${id}`, theirs, label, field: 'display_name' };
  },
  group: async () => {
    const [name, theirs] = [unique('First'), unique('Theirs')];
    const id = await madeOf('/groups', { name });
    return { ...FORM, page: `/admin/groups/${id}`, resource: `/groups/${id}`, theirs };
  },
  schedule: async () => {
    const theirs = unique('Theirs');
    const id = await madeOf('/schedules', { name: 'First', kind: 'recount_usage', cron: '0 3 * * *' });
    return { ...FORM, page: `/admin/schedules/${id}`, resource: `/schedules/${id}`, theirs, menu: 'Actions for First' };
  },
  webhook: async () => {
    const [theirs, url] = [unique('Theirs'), 'https://receiver.example.org/hook'];
    const id = await madeOf('/webhooks', { url, events: ['file.created'], description: 'First' });
    const label = 'What it is for (optional)';
    return { ...FORM, page: `/admin/webhooks/${id}`, resource: `/webhooks/${id}`, theirs, label, field: 'description' };
  },
};
type Kind = keyof typeof THINGS;
const FORMS: readonly Kind[] = ['person', 'group', 'schedule', 'webhook'];

const administrator = (path: string): Promise<Page> => openSignedIn(browser, tenant, tenant.administrator, path);
const rename = async ({ resource, field, theirs }: Thing): Promise<void> => {
  expect((await tenant.admin.patch(resource, { [field]: theirs })).status).toBe(200);
};
const nameOf = async ({ resource, field }: Thing): Promise<string> => (await tenant.admin.get(resource)).body[field];

const stale = (within: Page | Locator): Locator =>
  within.getByRole('alert').getByText('This was changed elsewhere meanwhile. Load it again');
const loadAgain = (page: Page | Locator): Locator => page.getByRole('button', { name: 'Load again' });
const question = (page: Page): Locator => page.getByRole('alertdialog', { name: 'Discard what you entered?' });
const form = (page: Page): Locator => page.getByRole('dialog', { name: /^Edit/ });
const save = (page: Page): Promise<void> => form(page).getByRole('button', { name: 'Save' }).click();
const edit = (page: Page): Promise<void> => page.getByRole('button', { name: 'Edit', exact: true }).click();

/** A form in which a name was typed, and whose change was refused since the thing was renamed elsewhere. */
async function refused(thing: Thing): Promise<{ page: Page; name: Locator }> {
  const page = await administrator(thing.page);
  await waitFor('the question about what was entered', () =>
    page.evaluate(`performance
    .getEntriesByType('resource')
    .some(({ name }) => name.includes('unsent-question'))`),
  );
  await edit(page);
  const name = form(page).getByLabel(thing.label, { exact: true });
  await name.fill('Mine');
  await rename(thing);
  await save(page);
  await stale(form(page)).waitFor();
  return { page, name };
}

test.each(FORMS)(
  'the form of a %s that was changed elsewhere is loaded again, not without a question, and is saved then',
  async (kind) => {
    const thing = await THINGS[kind]();
    const { page, name } = await refused(thing);
    await loadAgain(page).click();
    await question(page).getByRole('button', { name: 'Go on editing' }).last().click();
    await question(page).waitFor({ state: 'detached' });
    const kept = await name.inputValue();
    await loadAgain(page).click();
    await question(page).getByRole('button', { name: 'Discard' }).last().click();
    await waitFor('the name that was given elsewhere', async () => (await name.inputValue()) === thing.theirs);
    await waitFor('the focus to be in the form', () =>
      page.evaluate<boolean>(`document.activeElement.closest('dialog form') !== null`),
    );
    const notes = await stale(page).count();
    await name.fill('Both');
    await save(page);
    await page.getByRole('heading', { level: 1, name: 'Both' }).waitFor();

    expect([kept, notes, await nameOf(thing)]).toEqual(['Mine', 0, 'Both']);
  },
);

test.each(FORMS)(
  'the page of a %s shows what was changed elsewhere as soon as a change is refused, and so does its form',
  async (kind) => {
    const thing = await THINGS[kind]();
    const { page, name } = await refused(thing);
    const kept = await name.inputValue();
    await form(page).getByRole('button', { name: 'Cancel' }).last().click();
    await page.getByRole('heading', { level: 1, name: thing.theirs }).waitFor();
    await edit(page);
    const now = await name.inputValue();
    await name.fill('Mine after all');
    await save(page);
    await page.getByRole('heading', { level: 1, name: 'Mine after all' }).waitFor();

    expect([kept, now]).toEqual(['Mine', thing.theirs]);
  },
);

test.each<[Kind, string]>([
  ['person', 'Deactivate'],
  ['schedule', 'Switch off'],
  ['webhook', 'Switch off'],
])(
  'a %s that was changed elsewhere is loaded again by itself where “%s” is refused, which is done then',
  async (kind, action) => {
    const thing = await THINGS[kind]();
    const page = await administrator(thing.page);
    const act = async (menu: string): Promise<void> => {
      await page.getByRole('button', { name: menu }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await page.getByRole('button', { name: thing.menu }).waitFor();
    await rename(thing);
    await act(thing.menu);
    await page.getByText('This was changed elsewhere meanwhile, and is being loaded again.').first().waitFor();
    await page.getByRole('heading', { level: 1, name: thing.theirs }).waitFor();
    await act(thing.menu.replace('First', thing.theirs));

    await waitFor(`“${action}”`, async () => {
      const { active, is_active } = (await tenant.admin.get(thing.resource)).body;
      return (active ?? is_active) === false;
    });
  },
);

test.each<[Kind, string]>([
  ['person', 'Delete'],
  ['schedule', 'Delete'],
  ['webhook', 'Delete'],
])('the question before a %s is deleted goes on too after a change elsewhere', async (kind, action) => {
  const thing = await THINGS[kind]();
  const page = await administrator(thing.page);
  await page.getByRole('button', { name: thing.menu }).click();
  await page.getByRole('menuitem', { name: action }).click();
  const dialog = page.getByRole('alertdialog');
  const confirm = dialog.getByRole('button', { name: /^Delete/ });
  if (kind === 'person') await dialog.getByText('They have no files.').waitFor();
  await rename(thing);
  await confirm.click();
  await loadAgain(dialog).click();
  await stale(dialog).waitFor({ state: 'detached' });
  if (kind === 'person') await dialog.getByText('They have no files.').waitFor();
  await confirm.click();

  await waitFor('the deletion', async () => (await tenant.admin.get(thing.resource)).status === 404);
});

test('the rules for links that were changed elsewhere are loaded again, and the focus stays with them', async () => {
  const page = await administrator('/admin/links');
  const days = page.getByLabel('Links end after (days)');
  await days.fill('70');
  await tenant.admin.patch('/settings', { share_links: { max_days: 80 } });
  await page.getByRole('button', { name: 'Save' }).click();
  await stale(page).waitFor();
  await loadAgain(page).click();
  await question(page).getByRole('button', { name: 'Discard' }).last().click();
  await waitFor('the rule of the other', async () => (await days.inputValue()) === '80');
  await waitFor('the focus to be in the form', () =>
    page.evaluate<boolean>(`document.activeElement.closest('main form') !== null`),
  );
  await days.fill('90');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The rules are saved.').waitFor();

  expect((await tenant.admin.get('/settings')).body.share_links.max_days).toBe(90);
});

test('where what is so now cannot be loaded, the form says so and keeps what was typed', async () => {
  const { page, name } = await refused(await THINGS.webhook());
  await page.route('**/api/v1/webhooks/*', (route) => route.abort());
  await loadAgain(page).click();
  await form(page).getByText('The service cannot be reached.').first().waitFor();

  expect([await question(page).count(), await name.inputValue()]).toEqual([0, 'Mine']);
});

test('axe finds nothing on a form to be loaded again in light and dark, and at 400 % zoom nothing is cut off', async () => {
  const { page } = await refused(await THINGS.group());
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});
