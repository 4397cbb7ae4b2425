import type { Locator, Page } from 'playwright-core';
import { endSession, fromMenu } from './app.ts';
import { PASSWORD, type ReadSamples } from './read-samples.ts';

/** A page whose tree is a reviewed text. */
export interface ReadPage {
  /** The name of the file that has its tree. */
  readonly name: string;
  /** A path of the app, or the address of a launch. */
  readonly at: (samples: ReadSamples) => string;
  readonly isSignedOut?: boolean;
  /** A selector. Default: the content, or the whole page of somebody who is not signed in. */
  readonly part?: string;
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
  { name: 'group', at: ({ groupId }) => `/admin/groups/${groupId}` },
  { name: 'usage', at: () => '/admin/usage' },
  { name: 'lms', at: () => '/admin/lms' },
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
];

/** Each page that is read, those first that nobody has to sign in for. */
export const READ_PAGES: readonly ReadPage[] = [
  ...BEFORE_SIGN_IN.map((page) => ({ part: WHOLE, ...page, isSignedOut: true })),
  ...OF_FILES,
  ...OF_WORK,
  ...OF_ADMINISTRATION,
];
