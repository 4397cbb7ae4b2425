import type { Locator, Page, Route } from 'playwright-core';
import { endSession, fromMenu } from './app.ts';
import { NOBODY, PASSWORD, type ReadSamples } from './read-samples.ts';

/** A page whose tree is a reviewed text. */
export interface ReadPage {
  /** The name of the file that has its tree. */
  readonly name: string;
  /** A path of the app, or the address of a launch. */
  readonly at: (samples: ReadSamples) => string;
  readonly isSignedOut?: boolean;
  /** A selector. Default: the content, or the whole page of somebody who is not signed in. */
  readonly part?: string;
  /** It shows what `addMore` adds. Such pages are read last. */
  readonly hasMore?: boolean;
  /** It shows requests that do not end. */
  readonly isUnderWay?: boolean;
  /** What leads from the address to what is read. */
  readonly reach?: (page: Page) => Promise<unknown>;
}

const WHOLE = 'body';

const dialog = (page: Page): Locator => page.getByRole('dialog');
const button =
  (name: string | RegExp) =>
  async (page: Page): Promise<void> =>
    page.getByRole('button', { name, exact: true }).first().click();
/** Clicks a button, after which a dialog is shown. */
const opens = (name: string | RegExp) => async (page: Page) => {
  await button(name)(page);
  await dialog(page).waitFor();
};
const menuOf = (name: string, command: string) => async (page: Page) => {
  await fromMenu(page, name, command);
  await dialog(page).waitFor();
};
const previewOf = (name: string) => async (page: Page) => {
  await button(name)(page);
  await dialog(page).getByRole('heading', { name }).waitFor();
};
const detailsOf =
  (name: string, tab: string): ((page: Page) => Promise<unknown>) =>
  async (page) => {
    await fromMenu(page, name, 'Details');
    await page.getByRole('tab', { name: tab }).click();
    await page.getByRole('tabpanel').waitFor();
  };
const tab = (name: string) => (page: Page) => page.getByRole('tab', { name }).click();

/** Uploads files of these names, and waits until the panel says `until`. `answer` decides what becomes of each file. */
const uploading =
  (names: readonly string[], answer: (route: Route) => Promise<void> | undefined, until: string) =>
  async (page: Page): Promise<void> => {
    await page.route('**/api/v1/files', (route) => (route.request().method() === 'POST' ? answer(route) : route.continue()));
    await page.evaluate('window.showOpenFilePicker = undefined');
    await button('Upload')(page);
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('menuitem', { name: 'Upload files' }).click();
    const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('Third line') });
    await (await choosing).setFiles(names.map(file));
    await page.locator('.upload-panel').getByText(until).first().waitFor();
  };

const files = (): string => '/files';
const folder = ({ folderId }: ReadSamples): string => `/files/${folderId}`;

const BEFORE_SIGN_IN: readonly ReadPage[] = [
  { name: 'sign-in', at: () => '/' },
  { name: 'reset', at: () => '/reset#token' },
  { name: 'link-of-file', at: ({ link }) => `/s/${link.file}` },
  { name: 'link-with-password', at: ({ link }) => `/s/${link.locked}` },
  {
    name: 'link-with-wrong-password',
    at: ({ link }) => `/s/${link.locked}`,
    reach: async (page) => {
      // What the server sent gives way to the page's own form.
      await page.getByRole('button', { name: 'Show password' }).waitFor();
      await page.getByLabel('Password', { exact: true }).fill(`not ${PASSWORD}`);
      await page.keyboard.press('Enter');
      await page.getByText('This password is wrong.').first().waitFor();
    },
  },
  { name: 'link-of-folder', at: ({ link }) => `/s/${link.download}` },
  { name: 'file-request', at: ({ link }) => `/s/${link.upload}` },
  { name: 'link-that-ended', at: () => `/s/${'0'.repeat(64)}` },
  { name: 'launch-of-instructor', at: ({ launch }) => launch('instructor') },
  { name: 'launch-of-learner', at: ({ launch }) => launch('learner') },
];

const OF_FILES: readonly ReadPage[] = [
  { name: 'files', at: files, part: WHOLE },
  { name: 'account-menu', at: files, part: '.header', reach: button(/^Account/) },
  { name: 'storage', at: files, reach: opens(/used$/) },
  {
    name: 'shortcuts',
    at: files,
    reach: async (page) => {
      await page.keyboard.press('?');
      await dialog(page).waitFor();
    },
  },
  { name: 'files-as-pictures', at: files, reach: button('Pictures') },
  {
    name: 'files-selected',
    at: files,
    reach: async (page) => {
      await page.getByRole('checkbox', { name: 'Select Plan.txt' }).check();
      await page.getByText('1 selected').first().waitFor();
    },
  },
  { name: 'folder', at: folder },
  { name: 'files-menu', at: files, part: '[role=menu]', reach: button('Actions of Plan.txt') },
  { name: 'details', at: files, part: 'aside', reach: detailsOf('Plan.txt', 'Details') },
  { name: 'details-versions', at: files, part: 'aside', reach: detailsOf('Plan.txt', 'Versions') },
  { name: 'details-access', at: files, part: 'aside', reach: detailsOf('Field course', 'Access') },
  { name: 'details-activity', at: files, part: 'aside', reach: detailsOf('Plan.txt', 'Activity') },
  {
    name: 'session-ended',
    at: files,
    reach: async (page) => {
      await endSession(page);
      await dialog(page).getByRole('heading', { name: 'Sign in again' }).waitFor();
    },
  },
  { name: 'new-folder', at: files, reach: opens('New folder') },
  { name: 'move', at: files, reach: menuOf('Plan.txt', 'Move …') },
  { name: 'translate', at: files, reach: menuOf('Plan.txt', 'Translate …') },
  { name: 'share', at: files, reach: menuOf('Field course', 'Share …') },
  {
    name: 'share-new-link',
    at: files,
    reach: async (page) => {
      await menuOf('Field course', 'Share …')(page);
      await button('New link')(page);
      await dialog(page).getByRole('checkbox', { name: 'Ask for a password' }).check();
    },
  },
  { name: 'preview-of-text', at: files, reach: previewOf('Plan.txt') },
  { name: 'preview-of-picture', at: folder, reach: previewOf('Map.png') },
  { name: 'preview-of-pdf', at: folder, reach: previewOf('Report.pdf') },
  { name: 'preview-of-markdown', at: folder, reach: previewOf('Notes.md') },
  { name: 'optimise', at: folder, reach: menuOf('Report.pdf', 'Optimise PDF …') },
  {
    name: 'uploads-sending',
    at: files,
    part: '.upload-panel',
    isUnderWay: true,
    // When the page is left, the request that was held goes on: nothing comes of it, since the name is taken.
    reach: uploading(['Plan.txt'], () => undefined, 'Uploading 1 file'),
  },
  {
    name: 'uploads-asking',
    at: files,
    part: '.upload-panel',
    reach: uploading(['Plan.txt'], (route) => route.continue(), '1 file has a name that is taken.'),
  },
  {
    name: 'uploads-failed',
    at: files,
    part: '.upload-panel',
    reach: uploading(
      ['First.txt'],
      (route) => route.fulfill({ status: 413, json: { error: 'payload_too_large', message: 'It is too large.' } }),
      '1 file could not be uploaded',
    ),
  },
  {
    name: 'uploads-done',
    at: files,
    part: '.upload-panel',
    // Nothing of the tenant changes, which the pages after it show.
    reach: uploading(
      ['First.txt', 'Second.txt'],
      (route) => route.fulfill({ status: 201, json: { id: NOBODY } }),
      '2 files uploaded',
    ),
  },
  {
    name: 'no-connection',
    at: files,
    part: '.connection-note',
    reach: async (page) => {
      await page.context().setOffline(true);
      await page.locator('.connection-note').waitFor();
    },
  },
  { name: 'recent', at: () => '/recent' },
  { name: 'shared', at: () => '/shared' },
  { name: 'links', at: () => '/links' },
  { name: 'all-links', at: () => '/links', reach: tab('All links') },
  { name: 'trash', at: () => '/trash' },
  { name: 'trash-question', at: () => '/trash', reach: button('Empty the trash') },
  { name: 'search', at: () => '/search?q=plan' },
  { name: 'nothing-found', at: () => '/search?q=nothing' },
  { name: 'filters', at: () => '/search' },
  { name: 'tags', at: () => '/search', reach: opens('Change tags') },
  { name: 'not-found', at: () => '/files/a/b/c' },
];

const OF_WORK: readonly ReadPage[] = [
  { name: 'welcome', at: () => '/welcome' },
  { name: 'jobs', at: () => '/jobs' },
  { name: 'job', at: ({ jobId }) => `/jobs/${jobId}` },
  { name: 'courses', at: () => '/courses' },
  { name: 'course', at: ({ courseId }) => `/courses/${courseId}` },
  { name: 'course-grade-book', at: ({ courseId }) => `/courses/${courseId}`, reach: tab('Grade book') },
];

const OF_ADMINISTRATION: readonly ReadPage[] = [
  {
    name: 'people',
    at: () => '/admin/people',
    // Addresses of people who came by a launch are random.
    reach: (page) => page.getByRole('combobox', { name: 'Order' }).selectOption('Newest first'),
  },
  { name: 'new-person', at: () => '/admin/people', reach: opens('Add person') },
  { name: 'person', at: ({ personId }) => `/admin/people/${personId}` },
  { name: 'groups', at: () => '/admin/groups' },
  { name: 'new-group', at: () => '/admin/groups', reach: opens('Add group') },
  { name: 'group', at: ({ groupId }) => `/admin/groups/${groupId}` },
  { name: 'usage', at: () => '/admin/usage' },
  { name: 'lms', at: () => '/admin/lms' },
  {
    name: 'connect-lms',
    at: () => '/admin/lms',
    reach: async (page) => {
      await opens('Connect an LMS')(page);
      await button('Make address')(page);
      await dialog(page).getByLabel('Address for the LMS').waitFor();
    },
  },
  { name: 'registration', at: ({ registrationId }) => `/admin/lms/${registrationId}` },
  { name: 'webhooks', at: () => '/admin/webhooks' },
  { name: 'new-webhook', at: () => '/admin/webhooks', reach: opens('Add webhook') },
  { name: 'webhook', at: ({ webhookId }) => `/admin/webhooks/${webhookId}` },
  { name: 'schedules', at: () => '/admin/schedules' },
  {
    name: 'new-schedule',
    at: () => '/admin/schedules',
    reach: async (page) => {
      await opens('Add schedule')(page);
      await dialog(page).getByRole('heading', { name: 'The next runs' }).waitFor();
    },
  },
  { name: 'schedule', at: ({ scheduleId }) => `/admin/schedules/${scheduleId}` },
  { name: 'link-rules', at: () => '/admin/links' },
  { name: 'tenant', at: () => '/admin/tenant' },
  { name: 'audit', at: () => '/admin/audit?what=group.create' },
  {
    name: 'reference',
    at: () => '/api/v1/reference#createFolder',
    part: 'details#createFolder',
    reach: (page) => page.locator('details#createFolder').getByText('Requests are sent as Mira Falk.').waitFor(),
  },
];

const essays = ({ essaysId }: ReadSamples): string => `/files/${essaysId}`;

const WITH_MORE: readonly ReadPage[] = [
  { name: 'preview-of-code', at: essays, reach: previewOf('Lesson.py') },
  { name: 'preview-of-recording', at: essays, reach: previewOf('Bells.wav') },
  { name: 'unpack', at: essays, reach: menuOf('Weeks.zip', 'Unpack here …') },
  {
    name: 'delivery',
    at: () => '/admin/webhooks',
    reach: async (page) => {
      await page.getByRole('link', { name: /\/team-[0-9a-f]+$/ }).click();
      await page.getByRole('row', { name: /user\.updated Delivered/ }).waitFor();
      await button('user.updated')(page);
      await dialog(page).getByRole('region', { name: 'What is sent' }).waitFor();
    },
  },
];

/** Each page that is read: those first that nobody has to sign in for, and last those that show what is added then. */
export const READ_PAGES: readonly ReadPage[] = [
  ...BEFORE_SIGN_IN.map((page) => ({ part: WHOLE, ...page, isSignedOut: true })),
  ...OF_FILES,
  ...OF_WORK,
  ...OF_ADMINISTRATION,
  ...WITH_MORE.map((page) => ({ ...page, hasMore: true })),
];
