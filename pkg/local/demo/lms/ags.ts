import type { IncomingMessage, ServerResponse } from 'node:http';
import { type GradeBook, type Graded, resultAddress, type Score } from './grade-book.ts';
import { bodyOf, json, Manner } from './manner.ts';
import { SCOPE } from './scopes.ts';
import type { TokenEndpoint } from './token.ts';

const MEDIA_TYPE = 'application/vnd.ims.lis.v1.score+json';
const ACTIVITY = ['Initialized', 'Started', 'InProgress', 'Submitted', 'Completed'];
const GRADING = ['FullyGraded', 'Pending', 'PendingManual', 'Failed', 'NotReady'];
/** ISO 8601 with a fraction of the second and a zone (AGS 2.0 §3.4.9). */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(Z|[+-]\d\d:\d\d)$/;

/**
 * The ways to answer a score.
 * - `slow` never answers and does not count the score; `held` counts it and never answers.
 * - `answer lost` counts it and ends the connection; `no content` counts it and answers 204.
 * - `revoked` revokes every token first.
 */
export type ScoreManner =
  | 'well'
  | 'down'
  | 'slow'
  | 'held'
  | 'answer lost'
  | 'revoked'
  | 'no content'
  | {
      readonly status: number;
      readonly reason?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly text?: string;
    };

/** A request as received; `counted` means that it changed the grade book. */
interface ScoreRequest {
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
  readonly #book: GradeBook;

  constructor(issuer: string, { tokens, book }: { tokens: TokenEndpoint; book: GradeBook }) {
    this.#issuer = issuer;
    this.#tokens = tokens;
    this.#book = book;
  }

  /** The cells that have a score. */
  get book(): readonly Graded[] {
    return this.#book.graded;
  }

  cell(userId: string): Graded | undefined {
    return this.book.find((graded) => graded.userId === userId);
  }

  /** Simulates a change of the person's scores in the LMS. */
  touch(userId: string, at: Date): void {
    this.#book.touch(userId, at);
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
    if (typeof manner === 'object') {
      if (manner.reason !== undefined) response.statusMessage = manner.reason;
      return void response.writeHead(manner.status, manner.headers).end(manner.text);
    }
    const entered = this.#enter(request, url, body);
    arrived.counted = typeof entered === 'object';
    if (manner === 'held') return;
    if (manner === 'answer lost') return void response.destroy();
    if (typeof entered === 'number') return json(response, entered, { reason: `refused with ${entered}` });
    if (typeof entered === 'string') return json(response, 400, { reason: entered });
    if (manner === 'no content') return void response.writeHead(204).end();
    json(response, 200, entered);
  }

  /** Returns the reply for an entered score, or the status, or what is wrong with the score. */
  #enter(request: IncomingMessage, url: URL, body: string): { resultUrl: string } | number | string {
    const caller = this.#tokens.caller(request.headers.authorization, [SCOPE.score]);
    if (typeof caller === 'number') return caller;
    if (request.method !== 'POST') return 405;
    const address = new URL(url);
    address.pathname = url.pathname.replace(/\/scores$/, '');
    const item = this.#book.item(address.href, caller.clientId);
    if (!item) return 404;
    if (request.headers['content-type'] !== MEDIA_TYPE) return 415;
    const score = scoreOf(body);
    if (typeof score === 'string') return score;
    return this.#book.enter(item, score) ? { resultUrl: resultAddress(item, score.userId) } : 409;
  }
}

/** Returns the score, or what is wrong with it. Requires the members of AGS 2.0 §3.4.4–3.4.9 in their forms. */
function scoreOf(body: string): Score | string {
  let score: Record<string, unknown>;
  try {
    score = JSON.parse(body) as Record<string, unknown>;
  } catch {
    return 'no JSON';
  }
  const { timestamp, userId, scoreGiven, scoreMaximum, activityProgress, gradingProgress, comment, scoringUserId } = score;
  if (typeof timestamp !== 'string' || !TIMESTAMP.test(timestamp)) return 'timestamp';
  if (typeof userId !== 'string' || userId === '') return 'userId';
  if (!ACTIVITY.includes(String(activityProgress))) return 'activityProgress';
  if (!GRADING.includes(String(gradingProgress))) return 'gradingProgress';
  if (comment !== undefined && typeof comment !== 'string') return 'comment';
  if (scoringUserId !== undefined && (typeof scoringUserId !== 'string' || scoringUserId === '')) return 'scoringUserId';
  const said = { timestamp, userId, ...(comment === undefined ? {} : { comment }) };
  if (scoreGiven === undefined || scoreGiven === null) return said;
  if (typeof scoreGiven !== 'number' || scoreGiven < 0) return 'scoreGiven';
  if (typeof scoreMaximum !== 'number' || scoreMaximum <= 0) return 'scoreMaximum';
  return { ...said, scoreGiven, scoreMaximum };
}
