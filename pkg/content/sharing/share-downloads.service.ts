import { Counter } from 'prom-client';
import type { Passwords } from '../../accounts/passwords.ts';
import type { LoginAttempt, LoginThrottle } from '../../accounts/sign-in/login-throttle.ts';
import type { Reply, ReplyHeaders, RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Downloads } from '../downloads/downloads.service.ts';
import { rangeApplies, selectRange } from '../downloads/range.policy.ts';
import type { ShareCookie, ShareProofs } from './share-proof.ts';
import type { SharedFileView } from './shares.schema.ts';
import { countDownload, type OpenShare, openShare } from './shares.sql.ts';

const TOKEN = /^[0-9a-f]{64}$/;

const WINDOW_SECONDS = 900;
/** Wrong passwords for one link from one network; further attempts get 429. */
const FAILURES_PER_NETWORK = 10;
/** Wrong passwords for one link from all networks after which further attempts are slowed. */
const UNDELAYED_FAILURES = 100;

/** What a client sends beside the token. */
export interface ShareCredentials {
  readonly password: string | undefined;
  /** The parameter `download`. */
  readonly download: string | undefined;
}

/**
 * What anybody with a share link gets: what the file is, and its content.
 *
 * Invariants:
 * - A link that is unknown, malformed, inactive, expired, used up, of a trashed file, or whose maker is no admin of the file any
 *   more is 404, all alike.
 * - A link never gives more than `max_downloads` downloads, however many requests race: a download counts, by one conditional
 *   statement, once the store has begun to send it and before its first byte goes out. What goes wrong before that counts
 *   nothing.
 * - A range of a download that was counted does not count again for whoever brings its proof, within 24 hours, also when the link
 *   is used up since.
 * - A password is compared only while the network has attempts left; the right one does not help after that. Many wrong ones slow
 *   a link and do not shut it.
 */
export class ShareDownloads {
  readonly #db: Database;
  readonly #downloads: Downloads;
  readonly #proofs: ShareProofs;
  readonly #cookie: ShareCookie;
  readonly #passwords: () => Passwords;
  readonly #throttle: LoginThrottle;
  readonly #clock: Clock;
  readonly #results: Counter<'result'>;

  constructor(deps: {
    db: Database;
    downloads: Downloads;
    proofs: ShareProofs;
    cookie: ShareCookie;
    passwords: () => Passwords;
    throttle: LoginThrottle;
    clock: Clock;
    metrics: Metrics;
  }) {
    this.#db = deps.db;
    this.#downloads = deps.downloads;
    this.#proofs = deps.proofs;
    this.#cookie = deps.cookie;
    this.#passwords = deps.passwords;
    this.#throttle = deps.throttle;
    this.#clock = deps.clock;
    this.#results = new Counter({
      name: 'share_downloads_total',
      help: 'Downloads by share links: counted, continued (a range that does not count again), or the code of the refusal',
      labelNames: ['result'],
      registers: [deps.metrics],
    });
  }

  /** One statement; none for a malformed token. Throws `not_found`. */
  async show(token: string): Promise<SharedFileView> {
    const share = await this.#open(token);
    if (isUsedUp(share)) throw new Problem('not_found');
    const { name, size, mimeType, passwordHash, expiresAt, maxDownloads, downloadCount } = share;
    return {
      name,
      size,
      mime_type: mimeType,
      has_password: passwordHash !== null,
      expires_at: expiresAt?.toISOString() ?? null,
      downloads_left: maxDownloads === null ? null : maxDownloads - downloadCount,
    };
  }

  /**
   * The content, as `Downloads.open` gives it. Two statements; one for a range that does not count.
   * Throws `not_found`, `share_password_required`, `share_password_wrong`, `too_many_attempts`, `range_not_satisfiable`,
   * `too_many_transfers`.
   */
  async download(token: string, { password, download }: ShareCredentials, request: RequestInfo): Promise<Reply> {
    try {
      const share = await this.#open(token);
      const proof = this.#proofs.find(share, [download, this.#cookie.read(request.headers['cookie'])]);
      const isContinued = proof?.counted === true && isRange(share, request);
      if (!isContinued && isUsedUp(share)) throw new Problem('not_found');
      if (!proof) await this.#requirePassword(share, password, request);
      const content = { ...share, uuid: share.fileUuid };
      const begun = isContinued ? () => this.#continued() : () => this.#count(token, share);
      const counted = { linkOf: String(share.createdBy), network: request.network };
      return await this.#downloads.send(content, counted, request, begun);
    } catch (error) {
      this.#results.inc({ result: error instanceof Problem ? error.code : 'failed' });
      throw error;
    }
  }

  /**
   * A text for the parameter `download`, by which a download that begins within a minute needs no password. Throws as `download`
   * does.
   */
  async pass(token: string, password: string | undefined, from: Pick<RequestInfo, 'network' | 'signal'>): Promise<string> {
    const share = await this.#open(token);
    if (isUsedUp(share)) throw new Problem('not_found');
    await this.#requirePassword(share, password, from);
    return this.#proofs.ofPassword(share);
  }

  async #open(token: string): Promise<OpenShare> {
    const share = TOKEN.test(token) ? await openShare(this.#db.tables, token, this.#clock.now()) : null;
    if (!share) throw new Problem('not_found');
    return share;
  }

  #continued(): Promise<ReplyHeaders> {
    this.#results.inc({ result: 'continued' });
    return Promise.resolve({});
  }

  async #count(token: string, share: OpenShare): Promise<ReplyHeaders> {
    if (!(await countDownload(this.#db.tables, share, this.#clock.now()))) throw new Problem('not_found');
    this.#results.inc({ result: 'counted' });
    const proof = this.#proofs.ofDownload(share);
    return { 'x-share-download': proof, 'set-cookie': this.#cookie.set(token, proof) };
  }

  async #requirePassword(
    { uuid, passwordHash }: OpenShare,
    password: string | undefined,
    { network, signal }: Pick<RequestInfo, 'network' | 'signal'>,
  ): Promise<void> {
    if (passwordHash === null) return;
    if (password === undefined || password === '') throw new Problem('share_password_required');
    const compare = async (): Promise<true | undefined> => (await this.#passwords().verify(passwordHash, password)) || undefined;
    const matches = await this.#throttle.guard(attempt(uuid, network, signal), compare);
    if (!matches) throw new Problem('share_password_wrong');
  }
}

function attempt(share: string, network: string, signal: AbortSignal): LoginAttempt {
  const ofNetwork = { key: `share:${share}:${network}`, max: FAILURES_PER_NETWORK, windowSeconds: WINDOW_SECONDS };
  const ofAll = { key: `share:${share}`, max: Number.MAX_SAFE_INTEGER, windowSeconds: WINDOW_SECONDS };
  return { limits: [ofNetwork, ofAll], delayedBy: ofAll.key, undelayed: UNDELAYED_FAILURES, signal };
}

const isUsedUp = ({ maxDownloads, downloadCount }: OpenShare): boolean => maxDownloads !== null && downloadCount >= maxDownloads;

/** Returns whether the reply sends only a part of the file. */
const isRange = ({ size, checksum }: OpenShare, { headers }: RequestInfo): boolean =>
  rangeApplies(headers['if-range'], checksum) && selectRange(headers['range'], size).kind === 'part';
