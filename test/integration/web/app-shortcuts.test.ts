import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { isTypedInto } from './app-pages.ts';
import { namesOn, pathsOf, type Person, personWith, row, select } from './file-pages.ts';

/** Each key that the list of shortcuts names does what it says there. */
const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

/** What the dialog shows: under each heading the keys and what they do. */
const shownOn = async (page: Page): Promise<string[]> => {
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  return page.evaluate<string[]>(`[...document.querySelectorAll('dialog .shortcuts')].flatMap((group) => {
    const keys = (line) => [...line.querySelectorAll('kbd')].map((key) => key.textContent).join('+');
    return [...group.querySelectorAll('dl > div')].map(
      (line) => group.querySelector('h3').textContent + ': ' + keys(line) + ' ' + line.querySelector('dt').textContent);
  })`);
};

const selectedOn = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('[aria-selected=true] .files-open')].map((name) => name.textContent)`);
const selected = (page: Page, ...names: string[]): Promise<boolean> =>
  waitFor(`${names.join(', ')} to be selected`, async () => (await selectedOn(page)).join() === names.join());
const focused = (page: Page, text: string): Promise<boolean> =>
  waitFor(`the focus at ${text}`, () => page.evaluate(`document.activeElement.textContent === ${JSON.stringify(text)}`));
const searches = async (page: Page): Promise<void> => {
  await waitFor('the search to have the focus', () => isTypedInto(page.getByRole('searchbox', { name: 'Search files' })));
};
const paths = (person: Person, ...wanted: string[]): Promise<boolean> =>
  waitFor(`the files ${wanted.join(', ')}`, async () => (await pathsOf(person)).join() === wanted.join());
/** Goes into the folder, and pastes there. */
async function pasteThere(page: Page): Promise<void> {
  await row(page, 'There').getByRole('link', { name: 'There' }).click();
  await page.getByText('This folder is empty').waitFor();
  await page.keyboard.press('Control+v');
}

interface Key {
  /** As the list shows it. */
  readonly line: string;
  /** The first file has the focus and is selected. */
  readonly does: (page: Page, person: Person) => Promise<unknown>;
}

const OF_FILES: readonly Key[] = [
  {
    line: 'Search: / Search files',
    does: async (page) => {
      await page.keyboard.press('/');
      await searches(page);
    },
  },
  {
    line: 'Search: S Search files',
    does: async (page) => {
      // In the list letters go to a name.
      await page.getByRole('button', { name: 'New folder' }).focus();
      await page.keyboard.press('s');
      await searches(page);
    },
  },
  {
    line: 'Files: Enter Open',
    does: async (page) => {
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'one.txt' }).waitFor();
    },
  },
  {
    line: 'Files: Space Select',
    does: async (page) => {
      await page.keyboard.press('Space');
      await selected(page);
      await page.keyboard.press('Space');
      await selected(page, 'one.txt');
    },
  },
  {
    line: 'Files: Shift+↓ Extend the selection',
    does: async (page) => {
      await page.keyboard.press('Shift+ArrowDown');
      await selected(page, 'one.txt', 'two.txt');
    },
  },
  {
    line: 'Files: Ctrl+A Select all',
    does: async (page) => {
      await page.keyboard.press('Control+a');
      await selected(page, 'There', 'one.txt', 'two.txt');
    },
  },
  {
    line: 'Files: Escape Clear the selection',
    does: async (page) => {
      await page.keyboard.press('Escape');
      await selected(page);
    },
  },
  {
    line: 'Files: Shift+F10 Open the menu',
    does: async (page) => {
      await page.keyboard.press('Shift+F10');
      await page.getByRole('menu', { name: 'Actions of one.txt' }).waitFor();
    },
  },
  {
    line: 'Files: F2 Rename',
    does: async (page, person) => {
      await page.keyboard.press('F2');
      await page.getByLabel('New name of one.txt').fill('first.txt');
      await page.keyboard.press('Enter');
      await paths(person, '/first.txt', '/two.txt');
    },
  },
  {
    line: 'Files: Delete Delete',
    does: async (page, person) => {
      await page.keyboard.press('Delete');
      await paths(person, '/two.txt');
    },
  },
  {
    line: 'Files: Ctrl+X Cut',
    does: async (page, person) => {
      await page.keyboard.press('Control+x');
      await page.getByText('1 item cut').first().waitFor();
      await pasteThere(page);
      await paths(person, '/There/one.txt', '/two.txt');
    },
  },
  {
    line: 'Files: Ctrl+C Copy',
    does: async (page, person) => {
      await page.keyboard.press('Control+c');
      await page.getByText('1 item copied').first().waitFor();
      await pasteThere(page);
      await paths(person, '/There/one.txt', '/one.txt', '/two.txt');
    },
  },
  {
    line: 'Files: Ctrl+V Paste',
    does: async (page, person) => {
      await page.keyboard.press('Control+c');
      await page.getByText('1 item copied').first().waitFor();
      await page.keyboard.press('Control+v');
      await paths(person, '/one (1).txt', '/one.txt', '/two.txt');
    },
  },
  {
    line: 'Files: Ctrl+Drag Copy what is dropped',
    does: async (page, person) => {
      await page.keyboard.down('Control');
      await row(page, 'one.txt').dragTo(row(page, 'There'));
      await page.keyboard.up('Control');
      await paths(person, '/There/one.txt', '/one.txt', '/two.txt');
    },
  },
  {
    line: 'Files: Alt+Enter Details',
    does: async (page) => {
      await page.keyboard.press('Alt+Enter');
      await page.getByRole('complementary', { name: 'one.txt' }).waitFor();
    },
  },
  {
    line: 'Everywhere: ? Show this list',
    does: async (page) => {
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    },
  },
  {
    line: 'Everywhere: M Go to the main menu',
    does: async (page) => {
      await page.getByRole('button', { name: 'New folder' }).focus();
      await page.keyboard.press('m');
      await focused(page, 'Files');
    },
  },
];

async function filesShown(): Promise<{ person: Person; page: Page }> {
  const { person, page } = await personWith(browser, tenant, 'There/', 'one.txt', 'two.txt');
  await select(page, 'one.txt');
  await selected(page, 'one.txt');
  return { person, page };
}

test('the list of shortcuts in the files is complete: it names these keys and no other', async () => {
  const { page } = await filesShown();

  expect(await shownOn(page)).toEqual(OF_FILES.map(({ line }) => line));
});

test.each(OF_FILES.map(({ line, does }) => [line, does] as const))(
  'the key of the list does what it says there: %s',
  async (_line, does) => {
    const { person, page } = await filesShown();

    await does(page, person);
    await page.close();
  },
);

test('a key that the list names with Ctrl, Alt or none does nothing with another one', async () => {
  const { person, page } = await filesShown();
  for (const keys of ['Alt+F2', 'Control+Delete', 'Shift+Delete', 'Control+Shift+x', 'Control+Shift+c'])
    await page.keyboard.press(keys);
  await page.keyboard.press('Control+v');
  await page.keyboard.press('Delete');
  await page.getByText('1 item moved to the trash').first().waitFor();

  expect([await namesOn(page), await pathsOf(person)]).toEqual([['There', 'two.txt'], ['/two.txt']]);
});

test('the trash, and lists of no folder, name no key that does nothing there', async () => {
  const { page } = await filesShown();
  await page.keyboard.press('Delete');
  await page.getByText('1 item moved to the trash').first().waitFor();
  const ofFiles = async (): Promise<string[]> => {
    const lines = (await shownOn(page)).filter((line) => line.startsWith('Files: '));
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    return lines;
  };
  const goTo = async (name: string): Promise<void> => {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
    // While the script of that page is loaded, this one stays, with rows of the same names.
    await page.getByRole('heading', { name, level: 1 }).waitFor();
  };
  await goTo('Recent');
  await row(page, 'two.txt').waitFor();
  const inRecent = await ofFiles();
  await goTo('Trash');
  await row(page, 'one.txt').waitFor();
  const inTrash = await ofFiles();

  const all = OF_FILES.map(({ line }) => line).filter((line) => line.startsWith('Files: '));
  expect(inRecent).toEqual(all.filter((line) => line !== 'Files: Ctrl+V Paste'));
  expect(inTrash).toEqual(all.filter((line) => /Space|Shift|Ctrl\+A|Escape/.test(line)));
});
