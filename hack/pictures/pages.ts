import type { Page } from 'playwright-core';
import {
  asCards,
  fromMenu,
  giveLinkPassword,
  inGerman,
  jobsEnded,
  open,
  plot,
  preview,
  select,
  signedInThere,
  uploadSlowly,
  versions,
} from './actions.ts';

export type Size = 'wide' | 'phone';

/** A page of docs/pictures, as it looks in light and in dark. */
export interface Picture {
  /** Of its files: `<name>-<wide|phone>-<light|dark>.webp`. */
  readonly name: string;
  /** `{Name}` stands for the id of the sample folder of that name, `{upload link}` for the token of a link of that mode. */
  readonly path: string;
  /** The sizes that the documents show; `wide` unless said. */
  readonly sizes?: readonly Size[];
  /** What somebody does there first. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** True: the page goes on loading. */
  readonly isBusy?: boolean;
  /** True: the system of the reader asks for more contrast. */
  readonly hasContrast?: boolean;
  /** True: nobody is signed in. */
  readonly isSignedOut?: boolean;
}

const BOTH: readonly Size[] = ['wide', 'phone'];

/** All pictures. A new page is a line here, and a picture in a document. */
export const PICTURES: readonly Picture[] = [
  { name: 'files', path: '/files/{Field course}', sizes: BOTH },
  { name: 'files-german', path: '/files/{Field course}', prepare: inGerman },
  { name: 'files-contrast', path: '/files/{Field course}', hasContrast: true, prepare: select('Hostel and bus', 'Packing list') },
  { name: 'photos', path: '/files/{Photos}', sizes: BOTH, prepare: asCards },
  { name: 'details', path: '/files/{Thesis}', prepare: versions('Salt, wind and light') },
  { name: 'preview', path: '/files/{Photos}', prepare: preview('Evening at the lake', 'img') },
  { name: 'preview-pdf', path: '/files/{Lectures}', prepare: preview('01 Light and colour', '.textLayer span', true) },
  { name: 'preview-markdown', path: '/files/{Field course}', prepare: preview('Read me first', 'h1', true) },
  { name: 'preview-audio', path: '/files/{Field course}', sizes: ['phone'], prepare: preview('Bells of the harbour', 'audio') },
  { name: 'share', path: '/files', prepare: fromMenu('Field course', 'Share …') },
  { name: 'links', path: '/links' },
  { name: 'public-folder', path: '/s/{download link}', isSignedOut: true },
  { name: 'file-request', path: '/s/{upload link}', sizes: BOTH, isSignedOut: true, prepare: giveLinkPassword },
  { name: 'search', path: '/search?q=light' },
  { name: 'jobs', path: '/jobs', prepare: jobsEnded },
  { name: 'job', path: '/jobs', prepare: open(/Set an attribute/) },
  { name: 'course', path: '/courses', prepare: open(/Physics/) },
  { name: 'grades', path: '/courses', prepare: open(/Physics/, 'Grades from here', 'Fatima Zahra') },
  { name: 'welcome', path: '/welcome' },
  { name: 'people', path: '/admin/people' },
  { name: 'group', path: '/admin/groups', prepare: open(/Biology, second year/) },
  { name: 'usage', path: '/admin/usage' },
  { name: 'requests', path: '/admin/usage', prepare: plot(/^Requests/) },
  { name: 'lms', path: '/admin/lms', prepare: open(/Moodle/) },
  { name: 'webhooks', path: '/admin/webhooks' },
  { name: 'webhook', path: '/admin/webhooks', prepare: open(/receiver\..*general/) },
  { name: 'schedules', path: '/admin/schedules' },
  { name: 'link-rules', path: '/admin/links' },
  { name: 'institution', path: '/admin/tenant', sizes: BOTH },
  { name: 'audit', path: '/admin/audit' },
  { name: 'reference', path: '/api/v1/reference#createFolder', prepare: signedInThere },
  { name: 'uploads', path: '/files/{Field course}', sizes: BOTH, prepare: uploadSlowly, isBusy: true },
];
