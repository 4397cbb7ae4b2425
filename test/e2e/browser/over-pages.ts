import type { Locator, Page } from 'playwright-core';
import type { DemoTenant } from '../../support/programs/demo-tenant.ts';
import { waitFor } from '../../support/wait.ts';
import { endSession } from './app.ts';
import type { Say } from './words.ts';

/** Ids of sample data, one of each kind. */
export interface Samples {
  readonly job: string;
  readonly course: string;
  readonly registration: string;
  readonly webhook: string;
  readonly schedule: string;
  readonly person: string;
  readonly group: string;
  /** Throws if there is none of that name. */
  folder(name: string): string;
  file(name: string): string;
  /** The token of a link. */
  link(kind: 'file' | 'download' | 'upload'): string;
}

interface Row {
  readonly id: string;
  readonly name: string;
}

export async function samplesOf({ admin }: DemoTenant): Promise<Samples> {
  const rows = async (path: string): Promise<readonly Row[]> => (await admin.get(path)).body.data;
  const one = async (path: string): Promise<string> => {
    const [first] = await waitFor(`something at ${path}`, async () => {
      const found = await rows(path);
      return found.length > 0 && found;
    });
    return first?.id ?? '';
  };
  const [folders, files, { body: links }] = await Promise.all([
    rows('/folders?limit=100'),
    rows('/files?limit=100'),
    admin.get('/shares?limit=100'),
  ]);
  const named = (all: readonly Row[], name: string): string => {
    const found = all.find((row) => row.name === name);
    if (!found) throw new Error(`the sample data have no ${name}`);
    return found.id;
  };
  const managed = await waitFor('a webhook that was called', async () => {
    const { body } = await admin.get('/webhooks');
    return body.data.find(({ managed_by }: { managed_by: string | null }) => managed_by !== null);
  });
  return {
    job: (await rows('/jobs')).find(({ id }) => id !== undefined)?.id ?? '',
    course: await one('/lti/contexts'),
    registration: await one('/lti/registrations'),
    webhook: managed.id,
    schedule: await one('/schedules'),
    person: await one('/users?q=jonas'),
    group: await one('/groups?kind=manual'),
    folder: (name) => named(folders, name),
    file: (name) => named(files, name),
    link: (kind) =>
      links.data.find(({ folder_id, mode }: { folder_id: string | null; mode: string }) =>
        kind === 'file' ? folder_id === null : mode === kind && folder_id !== null,
      ).token,
  };
}

const dialog = (page: Page): Locator => page.getByRole('dialog');
const button = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click();
const command = (page: Page, name: RegExp): Promise<void> => page.getByRole('menuitem', { name }).click();

/** What leads from an address to what is looked at. `say` gives the words on the page, which are not always English. */
type Reach = (page: Page, samples: Samples, say: Say) => Promise<unknown>;

/** Clicks a button, after which a dialog is shown. */
const opens =
  (name: string): Reach =>
  async (page, _samples, say) => {
    await button(page, say(name));
    await dialog(page).waitFor();
  };
/** Chooses a command of the menu of a file or folder, which opens a dialog. */
const menuOf =
  (name: string, item: string): Reach =>
  async (page, _samples, say) => {
    await button(page, say('Actions of {name}', { name }));
    await command(page, say(item));
    await dialog(page).waitFor();
  };
const previewOf = (name: string): OverPage => [
  `the preview of ${name}`,
  (samples) => `/files?preview=${samples.file(name)}`,
  (page) => dialog(page).getByRole('heading', { name }).waitFor(),
];
/** A click beside a name selects its row. */
const select = (page: Page, name: string): Promise<void> =>
  page
    .getByRole('row', { name: new RegExp(name) })
    .getByRole('gridcell')
    .last()
    .click({ position: { x: 2, y: 2 } });
const at = (path: string) => (): string => path;

/** Begins uploads that cannot arrive: nothing of the sample data changes. */
const uploadInVain: Reach = async (page, _samples, say) => {
  await page.route('**/api/v1/files', (route) => route.abort('connectionfailed'));
  await page.evaluate('window.showOpenFilePicker = undefined');
  await button(page, say('Upload'));
  const choosing = page.waitForEvent('filechooser');
  await command(page, say('Upload files'));
  await (
    await choosing
  ).setFiles([1, 2].map((n) => ({ name: `Tide gauge ${n}.csv`, mimeType: 'text/csv', buffer: Buffer.from('time,level\n') })));
  await page
    .getByRole('region', { name: say('Uploads') })
    .getByText(say('There is no connection. Uploads continue when there is one.'))
    .waitFor();
};

/** What it is, the address, and the way there. */
type OverPage = readonly [string, (samples: Samples) => string, Reach];

/** What lies over a page or opens in it. */
export const OVER_PAGES: readonly OverPage[] = [
  ['the form of a folder', at('/files'), opens('New folder')],
  [
    'the menu of a file',
    at('/files'),
    (page, _samples, say) => button(page, say('Actions of {name}', { name: 'Ideas for next year.txt' })),
  ],
  ['the menu of the account', at('/files'), (page) => page.locator('.account-button').click()],
  [
    'the form of a new password',
    at('/files'),
    async (page, _samples, say) => {
      await page.locator('.account-button').click();
      await command(page, say('Change password …'));
      await dialog(page).waitFor();
    },
  ],
  [
    'the main menu on a phone',
    at('/files'),
    async (page, samples, say) => {
      await page.setViewportSize({ width: 360, height: 740 });
      await opens('Menu')(page, samples, say);
    },
  ],
  [
    'a page without a connection',
    at('/files'),
    async (page) => {
      await page.context().setOffline(true);
      await page.locator('.connection-note').waitFor();
    },
  ],
  [
    'a page whose session has ended, with no password',
    at('/files'),
    async (page, _samples, say) => {
      await endSession(page);
      await dialog(page)
        .getByRole('heading', { name: say('Sign in again') })
        .waitFor();
      await button(page, say('Sign in and continue'));
      await dialog(page).getByText(say('Enter your password.')).waitFor();
    },
  ],
  [
    'toasts of three kinds in the gallery',
    at('/design'),
    async (page) => {
      for (const name of ['Show a toast', 'Show a success', 'Show a failure']) await button(page, name);
      await page.locator('.c-toast').nth(2).waitFor();
    },
  ],
  [
    'the menu of the looks in the gallery',
    at('/design'),
    (page) => button(page, 'As the system').then(() => page.getByRole('menu').waitFor()),
  ],
  ['the list of shortcuts', at('/files'), (page) => page.keyboard.press('?').then(() => dialog(page).waitFor())],
  [
    'what fills the storage',
    at('/files'),
    async (page) => {
      await page.locator('.navigation-quota').click();
      await dialog(page).waitFor();
    },
  ],
  ['the choice of a folder to move to', at('/files'), menuOf('Letter to the families.pdf', 'Move …')],
  [
    'a list with something selected, and its details',
    (samples) => `/files/${samples.folder('Thesis')}`,
    async (page, _samples, say) => {
      await select(page, 'Salt, wind and light');
      await page.keyboard.press('Alt+Enter');
      await page.getByRole('tab', { name: say('Versions') }).click();
      await page
        .getByRole('tabpanel')
        .getByText(say('Version {number}', { number: '1' }))
        .waitFor();
    },
  ],
  [
    'the pictures of a folder',
    (samples) => `/files/${samples.folder('Photos')}`,
    async (page, _samples, say) => {
      await button(page, say('Pictures'));
      await page.locator('.files-thumbnail img').first().waitFor();
    },
  ],
  [
    'the dialog that shares, with the form of a link',
    at('/files'),
    async (page, samples, say) => {
      await menuOf('Field course', 'Share …')(page, samples, say);
      await dialog(page).getByText(say('Owns this')).waitFor();
      await button(page, say('New link'));
      await dialog(page)
        .getByRole('checkbox', { name: say('Ask for a password') })
        .check();
    },
  ],
  ['the translation of a text', at('/files'), menuOf('Ideas for next year.txt', 'Translate …')],
  ['the translation of a PDF', at('/files'), menuOf('Letter to the families.pdf', 'Translate …')],
  ['the optimiser of a PDF', at('/files'), menuOf('Letter to the families.pdf', 'Optimise PDF …')],
  previewOf('Leaf under the microscope.png'),
  previewOf('Letter to the families.pdf'),
  previewOf('Read me first.md'),
  previewOf('analysis.py'),
  previewOf('Bells of the harbour.wav'),
  ['the panel of uploads', at('/files'), uploadInVain],
  [
    'the question before the trash is emptied',
    at('/trash'),
    (page, _samples, say) => button(page, say('Empty the trash')).then(() => page.getByRole('alertdialog').waitFor()),
  ],
  ['the form of a person', at('/admin/people'), opens('Add person')],
  ['the form of a group', at('/admin/groups'), opens('Add group')],
  ['the form that connects an LMS', at('/admin/lms'), opens('Connect an LMS')],
  ['the form of a webhook', at('/admin/webhooks'), opens('Add webhook')],
  [
    'a delivery of a webhook',
    ({ webhook }) => `/admin/webhooks/${webhook}`,
    async (page, _samples, say) => {
      await button(page, 'file.created');
      await dialog(page)
        .getByRole('region', { name: say('What is sent') })
        .waitFor();
    },
  ],
  [
    'the form of a schedule',
    at('/admin/schedules'),
    async (page, samples, say) => {
      await opens('Add schedule')(page, samples, say);
      await dialog(page)
        .getByRole('heading', { name: say('The next runs') })
        .waitFor();
    },
  ],
];
