import { type PageLanguage, pageLanguage } from '../../api/page-language.ts';
import type { PageReply, PageRequest, WebPages } from '../../api/page.ts';
import { settingsIn } from '../deep-linking/pickers.service.ts';
import { LaunchError } from '../launch-error.ts';
import { sourceOf } from './frame-ancestors.policy.ts';
import type { FramedLaunches, OpenedBy } from './framed-launches.ts';

/** The browser that opens a page. */
type Browser = Pick<PageRequest, 'languages' | 'files'>;

/** A CSP source list without sources. */
const NOBODY = "'none'";

/** The texts of a document before its script runs. */
const WORDS = {
  en: { course: 'Course files', picker: 'Choose files', noScript: 'This page needs JavaScript. Allow scripts for this service.' },
  de: {
    course: 'Kursdateien',
    picker: 'Dateien auswählen',
    noScript: 'Diese Seite braucht JavaScript. Erlauben Sie Skripte für diesen Dienst.',
  },
} as const satisfies Record<PageLanguage, Record<string, string>>;

const bodyIn = (language: PageLanguage): string =>
  `<div id="app"></div><noscript><main><p>${WORDS[language].noScript}</p></main></noscript>`;

/**
 * The pages that a launch opens: the page of the course, or the picker of a deep linking request (docs/design/lti.md).
 *
 * Invariants:
 * - The pages contain no user's data: they request it from the API, with the token that they were opened with.
 * - Only the LMS that launched, and the sites that its registration lists, may frame them.
 * - The picker can send a form only to the site that expects the answer, and to those that may frame it.
 */
export class Entries {
  readonly #launches: FramedLaunches;
  readonly #web: WebPages;

  constructor(deps: { framed: FramedLaunches; web: WebPages }) {
    this.#launches = deps.framed;
    this.#web = deps.web;
  }

  /**
   * The LMS's locale takes precedence over the browser's languages. One statement. Throws LaunchError `entry_…`, PageProblem
   * `web_not_built`.
   */
  async open(by: OpenedBy, { languages, files }: Browser): Promise<PageReply> {
    const { ancestors, locale } = await this.#launches.find(by);
    const language = pageLanguage([locale ?? '', ...languages]);
    return {
      status: 200,
      body: this.#web.document('entry', { title: WORDS[language].course, body: bodyIn(language), language }),
      headers: { 'content-security-policy': csp({ files, ancestors, formAction: NOBODY }) },
    };
  }

  /** As `open`. One statement. Throws LaunchError `entry_…`, `picker_…`, PageProblem `web_not_built`. */
  async openPicker(by: OpenedBy, { languages, files }: Browser): Promise<PageReply> {
    const { ancestors, idToken, answeredAt, locale } = await this.#launches.find(by);
    const settings = settingsIn({ idToken });
    if (!settings) throw new LaunchError('picker_not_requested');
    if (answeredAt !== null) throw new LaunchError('picker_answered');
    const language = pageLanguage([locale ?? '', ...languages]);
    // The page of the LMS that expects the answer may frame the picker. Chromium also applies `form-action` to the LMS's
    // redirects of the form.
    const sites = [sourceOf(settings.returnUrl) ?? NOBODY, ...ancestors.split(' ')].filter((site) => site !== NOBODY);
    const sources = [...new Set(sites)].join(' ');
    return {
      status: 200,
      body: this.#web.document('picker', { title: WORDS[language].picker, body: bodyIn(language), language }),
      headers: { 'content-security-policy': csp({ files, ancestors: sources, formAction: sources }) },
    };
  }
}

/** Previews are images and recordings from our own origin. */
const csp = ({ files, ancestors, formAction }: { files: string; ancestors: string; formAction: string }): string =>
  [
    `default-src 'none'; script-src ${files}; style-src ${files}; font-src ${files}`,
    "connect-src 'self'; img-src 'self'; media-src 'self'",
    `base-uri 'none'; form-action ${formAction}; frame-ancestors ${ancestors}; require-trusted-types-for 'script'`,
  ].join('; ');
