import type { PageLanguage } from './page-language.ts';

/**
 * What a browser or an LMS asks outside the REST API: pages, redirects, forms. Knows no Koa, and takes parameters that it does
 * not know.
 */
export interface PageRequest {
  readonly requestId: string;
  /** Upper case. */
  readonly method: string;
  /** Of the query, or of the form that was posted. A repeated name has several values. */
  readonly parameters: ReadonlyMap<string, readonly string[]>;
  /** The JSON that was posted, where the route takes that. */
  readonly json?: unknown;
  /** What the parameters of the route's path are, by name. */
  readonly path: Readonly<Record<string, string>>;
  /** Of the Cookie header; the first of a name. */
  readonly cookies: ReadonlyMap<string, string>;
  /** The Origin header of a POST. */
  readonly origin: string | undefined;
  /** The client's address, behind as many proxies as are trusted; of IPv6 the network of 64 bits. */
  readonly ip: string;
  /** As `RequestInfo.network`. */
  readonly network: string;
  readonly userAgent: string | undefined;
  /** Of the Accept-Language header: the tags, the most wanted first. */
  readonly languages: readonly string[];
}

export interface PageReply {
  readonly status: number;
  /** Text of the media type that `headers` says; a page unless they say so. */
  readonly body?: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/**
 * A route outside /api/v1. Its declaration gives the metric's label; its failures become a readable page, or the API's shape for
 * `Accept: application/json`.
 */
export interface PageRoute {
  readonly methods: readonly ('get' | 'post')[];
  /** Parameters in braces. */
  readonly path: string;
  /** `json`: programs post here, not browsers; its refusals are JSON too. Left out: a form. */
  readonly takes?: 'json';
  readonly handle: (request: PageRequest) => Promise<PageReply>;
}

/** The built pages of pkg/web: http serves the files; a page route names its script and the document's content. */
export interface WebPages {
  /** A whole document with the script and styles of `script`; `body` is HTML. Throws PageProblem `web_not_built`. */
  document(script: WebScript, content: WebContent): string;
  /** A whole document that looks like the page of a course and has no script; without a build it has no styles. */
  notice(content: WebContent): string;
}

export interface WebContent {
  readonly title: string;
  /** HTML. */
  readonly body: string;
  /** English where it is left out. */
  readonly language?: PageLanguage;
}

/**
 * The scripts of pkg/web: the page of a course, the picker, the exchange with a platform's storage, and the registration of an
 * LMS.
 */
export type WebScript = 'entry' | 'picker' | 'registration' | 'storage';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text as HTML, in an element or a quoted attribute. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

/** An address of this service, and the field of the LMS that it belongs in. */
export interface FieldAddress {
  readonly field: string;
  readonly address: string;
}

type Messages = Readonly<Partial<Record<PageLanguage, string>>>;

export interface PageProblemOptions {
  readonly cause?: unknown;
  /** Where the person came from: a link that leaves the frame. An http or https address. */
  readonly wayBack?: string | undefined;
  /** The LMS of the person, where the place in it is not known. As `wayBack`. */
  readonly lms?: string | undefined;
  /** What to enter at the LMS. */
  readonly addresses?: readonly FieldAddress[];
  /** The message in other languages of pages. */
  readonly messages?: Messages;
}

/** An error of a page: the page shows status, code, message and what to do. */
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
