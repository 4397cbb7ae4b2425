import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, json, Manner } from './manner.ts';
import type { TokenEndpoint } from './token.ts';

const SCORE_SCOPE = 'https://purl.imsglobal.org/spec/lti-ags/scope/score';
const MEDIA_TYPE = 'application/vnd.ims.lis.v1.score+json';
const ACTIVITY = ['Initialized', 'Started', 'InProgress', 'Submitted', 'Completed'];
const GRADING = ['FullyGraded', 'Pending', 'PendingManual', 'Failed', 'NotReady'];
/** ISO 8601 with a fraction of the second and a zone (AGS 2.0 §3.4.9). */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(Z|[+-]\d\d:\d\d)$/;

/**
 * How a score is answered. `slow` never answers and does not count it; `held` counts it and never answers; `answer lost` counts it and
 * ends the connection; `revoked` takes every token back first; `no content` counts it and answers 204.
 */
export type ScoreManner =
  | 'well'
  | 'down'
  | 'slow'
  | 'held'
  | 'answer lost'
  | 'revoked'
  | 'no content'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly text?: string };

/** One cell of the grade book. */
export interface Graded {
  readonly lineItem: string;
  readonly userId: string;
  readonly scoreGiven: number;
  readonly scoreMaximum: number;
  readonly comment?: string;
  readonly timestamp: string;
  /** How often a score was entered here. */
  readonly times: number;
}

/** A request as it came; `counted`: it changed the grade book. */
export interface ScoreRequest {
  readonly url: string;
  readonly body: string;
  readonly authorization: string;
  counted: boolean;
}

/** The score service of a platform by AGS 2.0, which refuses a timestamp that is not newer, as Moodle does. */
export class ScoreService {
  readonly manner = new Manner<ScoreManner>('well');
  readonly received: ScoreRequest[] = [];
  readonly #issuer: string;
  readonly #tokens: TokenEndpoint;
  /** Addresses of line items that launches have named. */
  readonly #lineItems = new Set<string>();
  readonly #book = new Map<string, Graded>();

  constructor(issuer: string, tokens: TokenEndpoint) {
    this.#issuer = issuer;
    this.#tokens = tokens;
  }

  /** A launch names this line item: from now on it is there. */
  offer(lineItem: unknown): void {
    if (typeof lineItem === 'string' && lineItem !== '') this.#lineItems.add(lineItem);
  }

  get book(): readonly Graded[] {
    return [...this.#book.values()];
  }

  cell(userId: string): Graded | undefined {
    return this.book.find((graded) => graded.userId === userId);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const url = new URL(request.url ?? '/', this.#issuer);
    const arrived: ScoreRequest = { url: url.href, body, authorization: request.headers.authorization ?? '', counted: false };
    this.received.push(arrived);
    const manner = this.manner.next();
    if (manner === 'down') return void response.destroy();
    if (manner === 'slow') return;
    if (manner === 'revoked') this.#tokens.revokeAll();
    if (typeof manner === 'object') return void response.writeHead(manner.status, manner.headers).end(manner.text);
    const status = this.#enter(request, url, body);
    arrived.counted = status === 200;
    if (manner === 'held') return;
    if (manner === 'answer lost') return void response.destroy();
    if (status === 200 && manner === 'no content') return void response.writeHead(204).end();
    if (status === 200) return json(response, 200, { resultUrl: `${url.href}/result` });
    json(response, typeof status === 'number' ? status : 400, { reason: typeof status === 'number' ? `refused with ${status}` : status });
  }

  /** The status, or what is wrong with the score. */
  #enter(request: IncomingMessage, url: URL, body: string): number | string {
    const allowed = this.#tokens.verify(request.headers.authorization, SCORE_SCOPE);
    if (allowed !== 200) return allowed;
    if (request.method !== 'POST') return 405;
    const item = new URL(url);
    item.pathname = url.pathname.replace(/\/scores$/, '');
    if (item.pathname === url.pathname || !this.#lineItems.has(item.href)) return 404;
    if (request.headers['content-type'] !== MEDIA_TYPE) return 415;
    const score = scoreOf(body);
    if (typeof score === 'string') return score;
    const key = `${item.href} ${score.userId}`;
    const former = this.#book.get(key);
    if (former && Date.parse(score.timestamp) <= Date.parse(former.timestamp)) return 409;
    this.#book.set(key, { ...score, lineItem: item.href, times: (former?.times ?? 0) + 1 });
    return 200;
  }
}

/** AGS 2.0 §3.4.4: the members that must be there, in their forms; or what is wrong. */
function scoreOf(body: string): Omit<Graded, 'lineItem' | 'times'> | string {
  let score: Record<string, unknown>;
  try {
    score = JSON.parse(body) as Record<string, unknown>;
  } catch {
    return 'no JSON';
  }
  const { timestamp, userId, scoreGiven, scoreMaximum, activityProgress, gradingProgress, comment } = score;
  if (typeof timestamp !== 'string' || !TIMESTAMP.test(timestamp)) return 'timestamp';
  if (typeof userId !== 'string' || userId === '') return 'userId';
  if (typeof scoreGiven !== 'number' || scoreGiven < 0) return 'scoreGiven';
  if (typeof scoreMaximum !== 'number' || scoreMaximum <= 0) return 'scoreMaximum';
  if (!ACTIVITY.includes(String(activityProgress))) return 'activityProgress';
  if (!GRADING.includes(String(gradingProgress))) return 'gradingProgress';
  if (comment !== undefined && typeof comment !== 'string') return 'comment';
  return { timestamp, userId, scoreGiven, scoreMaximum, ...(comment === undefined ? {} : { comment }) };
}
