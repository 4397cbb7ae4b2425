import { Counter } from 'prom-client';
import type { ReplyHeaders, RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Database } from '../../store/postgres/database.ts';
import { countDownload, isUsedUp, type OpenShare } from './open-shares.sql.ts';
import type { ShareCookie, ShareProofs } from './share-proof.ts';

/** Content that a client downloads by a link. */
export interface LinkedContent {
  readonly share: OpenShare;
  /** The link's token. */
  readonly token: string;
  /** Identifies the content. A proof is valid for this content only. */
  readonly content: string;
  /** The path of the download, relative to the link: `download`. */
  readonly path: string;
}

/**
 * Counts downloads by share links.
 *
 * Invariants:
 * - A link never allows more than `max_downloads` downloads, however many requests race. One conditional statement counts the
 *   download after the store has begun to send it and before the first byte goes out. A failure before that is not counted.
 * - For 24 hours, a range of a counted download does not count again if the client sends the proof of that download. This holds
 *   even if the link has been used up in the meantime.
 */
export class CountedDownloads {
  readonly #db: Database;
  readonly #proofs: ShareProofs;
  readonly #cookie: ShareCookie;
  readonly #clock: Clock;
  readonly #results: Counter<'result'>;

  constructor(deps: { db: Database; proofs: ShareProofs; cookie: ShareCookie; clock: Clock; metrics: Metrics }) {
    this.#db = deps.db;
    this.#proofs = deps.proofs;
    this.#cookie = deps.cookie;
    this.#clock = deps.clock;
    this.#results = new Counter({
      name: 'share_downloads_total',
      help: 'Downloads by share links: counted, continued (a range that does not count again), or the code of the refusal',
      labelNames: ['result'],
      registers: [deps.metrics],
    });
  }

  /** Runs a download. Counts the refusal if it fails. */
  async run<T>(download: () => Promise<T>): Promise<T> {
    try {
      return await download();
    } catch (error) {
      this.#results.inc({ result: error instanceof Problem ? error.code : 'failed' });
      throw error;
    }
  }

  /** Returns whether the client sent a valid proof of any earlier download by this link. */
  hasProof(share: OpenShare, request: RequestInfo, download: string | undefined): boolean {
    return this.#proofs.find(share, undefined, [download, this.#cookie.read(request.headers['cookie'])]) !== undefined;
  }

  /**
   * Decides whether a download may begin. Returns `begun`, which counts the download when it begins, and `isProven`: whether the
   * client has proved that it knows the password. `download` is the query parameter; `isRange`: the reply contains only part of
   * the content. Throws `not_found` if the link is used up.
   */
  begin(
    { share, token, content, path }: LinkedContent,
    request: RequestInfo,
    { download, isRange }: { readonly download: string | undefined; readonly isRange: boolean },
  ): { readonly isProven: boolean; readonly begun: () => Promise<ReplyHeaders> } {
    const proof = this.#proofs.find(share, content, [download, this.#cookie.read(request.headers['cookie'])]);
    const isContinued = proof?.counted === true && isRange;
    if (!isContinued && isUsedUp(share)) throw new Problem('not_found');
    const begun = isContinued ? () => this.#continued() : () => this.#count(share, { token, content, path });
    return { isProven: proof !== undefined, begun };
  }

  #continued(): Promise<ReplyHeaders> {
    this.#results.inc({ result: 'continued' });
    return Promise.resolve({});
  }

  async #count(share: OpenShare, { token, content, path }: Omit<LinkedContent, 'share'>): Promise<ReplyHeaders> {
    if (!(await countDownload(this.#db.tables, share, this.#clock.now()))) throw new Problem('not_found');
    this.#results.inc({ result: 'counted' });
    const proof = this.#proofs.proveDownload(share, content);
    return { 'x-share-download': proof, 'set-cookie': this.#cookie.set(`${token}/${path}`, proof) };
  }
}
