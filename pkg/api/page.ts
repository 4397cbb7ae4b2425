import type { PageLanguage } from './page-language.ts';

/**
 * A request of a browser or an LMS outside of the REST API: pages, redirects, forms. It depends on no Koa, and unknown parameters
 * are allowed.
 */
export interface PageRequest {
  readonly requestId: string;
  /** Upper case. */
  readonly method: string;
  /** The parameters of the query, or of a posted form. A repeated name has several values. */
  readonly parameters: ReadonlyMap<string, readonly string[]>;
  /** The posted JSON, if the route accepts JSON. */
  readonly json?: unknown;
  /** The parameters of the route's path, by name. */
  readonly path: Readonly<Record<string, string>>;
  /** The cookies of the Cookie header; the first of each name. */
  readonly cookies: ReadonlyMap<string, string>;
  /** The Origin header of a POST. */
  readonly origin: string | undefined;
  /** The client's address behind the trusted proxies; for IPv6 its 64-bit network. */
  readonly ip: string;
  /** The network of RequestInfo. */
  readonly network: string;
  readonly userAgent: string | undefined;
  /** The CSP source of the build's scripts, styles and fonts. It does not include what people uploaded, as 'self' does. */
  readonly files: string;
  /** The tags of the Accept-Language header, the most preferred first. */
  readonly languages: readonly string[];
}

export interface PageReply {
  readonly status: number;
  /** Text of the media type in `headers`; by default a page. */
  readonly body?: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/**
 * A route outside of /api/v1. Its path is the label of its metrics. Its failures become a readable page, or the API's error shape
 * for `Accept: application/json`.
 */
export interface PageRoute {
  readonly methods: readonly ('get' | 'post')[];
  /** Parameters in braces. */
  readonly path: string;
  /** `json`: programs post here, not browsers; refusals are JSON too. Default: a form. */
  readonly takes?: 'json';
  /** The limit against which a request counts. Default: that of pages. */
  readonly counts?: 'link';
  readonly handle: (request: PageRequest) => Promise<PageReply>;
}

/** The built pages of pkg/web: http serves the files; a page route names its script and the document's content. */
export interface WebPages {
  /** Returns a whole document with the script and styles of `script`; `body` is HTML. Throws PageProblem `web_not_built`. */
  document(script: WebScript, content: WebContent): string;
  /** Returns the document of the app's pages. Throws PageProblem `web_not_built`. */
  app(language: PageLanguage): string;
  /** Returns the document of the preview's frame (pkg/web/app/preview/frame). Throws PageProblem `web_not_built`. */
  previewFrame(language: PageLanguage): string;
  /** Returns a whole document that looks like a course's page and has no script; without a build it has no styles. */
  notice(content: WebContent): string;
}

export interface WebContent {
  readonly title: string;
  /** HTML. */
  readonly body: string;
  /** Default: English. */
  readonly language?: PageLanguage;
}

/**
 * The scripts of pkg/web that a page names: of pkg/web/lti the page of a course, the picker, the exchange with a platform's
 * storage, and the registration of an LMS; the API reference; the page of a share link.
 */
export type WebScript = 'entry' | 'picker' | 'reference' | 'registration' | 'share' | 'storage';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML, in an element or a quoted attribute. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

/** An address of this service, and the field of the LMS in which it belongs. */
export interface FieldAddress {
  readonly field: string;
  readonly address: string;
}

type Messages = Readonly<Partial<Record<PageLanguage, string>>>;

export interface PageProblemOptions {
  readonly cause?: unknown;
  /** A link that leaves the frame, to the page from which the person came. An http or https address. */
  readonly wayBack?: string | undefined;
  /** The person's LMS, if the place in it is unknown. Used as `wayBack` is. */
  readonly lms?: string | undefined;
  /** The addresses to enter at the LMS. */
  readonly addresses?: readonly FieldAddress[];
  /** The message in other languages of pages. */
  readonly messages?: Messages;
}

/** An error of a page, which shows status, code, message and remedy. */
export class PageProblem extends Error {
  override readonly name: string = 'PageProblem';
  readonly status: number;
  readonly code: string;
  readonly wayBack: string | undefined;
  readonly lms: string | undefined;
  readonly addresses: readonly FieldAddress[];
  readonly messages: Messages;

  constructor(code: string, status: number, message: string, options: PageProblemOptions = {}) {
    super(message, options);
    this.code = code;
    this.status = status;
    this.wayBack = options.wayBack;
    this.lms = options.lms;
    this.addresses = options.addresses ?? [];
    this.messages = options.messages ?? {};
  }
}
