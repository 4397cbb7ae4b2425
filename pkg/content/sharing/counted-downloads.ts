import { Counter } from 'prom-client';
import type { ReplyHeaders, RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Database } from '../../store/postgres/database.ts';
import { countDownload, isUsedUp, type OpenShare } from './open-shares.sql.ts';
import type { ShareCookie, ShareProofs } from './share-proof.ts';

/** What is downloaded by a link. */
export interface LinkedContent {
  readonly share: OpenShare;
  /** The link's token. */
  readonly token: string;
  /** Identifies the content: a proof applies to no other. */
  readonly content: string;
  /** The address of the download below the link's: `download`. */
  readonly path: string;
}

/**
 * Counts the downloads by share links.
 *
 * Invariants:
 * - A link never gives more than `max_downloads` downloads, however many requests race: a download counts, by one conditional
 *   statement, once the store has begun to send it and before its first byte goes out. What goes wrong before that counts
 *   nothing.
 * - A range of a download that was counted does not count again for whoever brings its proof, within 24 hours, also when the link
 *   is used up since.
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

  /** Runs a download, and counts its refusal if it is refused. */
  async run<T>(download: () => Promise<T>): Promise<T> {
    try {
      return await download();
    } catch (error) {
      this.#results.inc({ result: error instanceof Problem ? error.code : 'failed' });
      throw error;
    }
  }

  /** Returns whether the client brings a valid proof of something that it downloaded by this link. */
  hasProof(share: OpenShare, request: RequestInfo, download: string | undefined): boolean {
    return this.#proofs.find(share, undefined, [download, this.#cookie.read(request.headers['cookie'])]) !== undefined;
  }

  /**
   * Decides whether a download may begin, and returns what counts it when it does. `isProven`: the client has shown that it knows
   * the password. `download`: the parameter of this name; `isRange`: the reply sends only a part. Throws `not_found` where the
   * link is used up.
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
    const proof = this.#proofs.ofDownload(share, content);
    return { 'x-share-download': proof, 'set-cookie': this.#cookie.set(`${token}/${path}`, proof) };
  }
}
