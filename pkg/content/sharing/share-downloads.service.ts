import type { Reply, RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Downloads } from '../downloads/downloads.service.ts';
import { rangeApplies, selectRange } from '../downloads/range.policy.ts';
import type { CountedDownloads } from './counted-downloads.ts';
import { isUsedUp, type OpenFileShare, openShare } from './open-shares.sql.ts';
import type { SharePasswords } from './share-passwords.ts';
import type { ShareProofs } from './share-proof.ts';
import type { ShareSessions } from './share-sessions.ts';

/** Values that a client sends together with the token. */
export interface ShareCredentials {
  readonly password: string | undefined;
  /** The query parameter `download`. */
  readonly download: string | undefined;
}

/**
 * Serves the content of a shared file to anybody who has its link.
 *
 * Invariant: every link that does not work gets the same 404: one that is unknown, malformed, inactive, expired or used up, whose
 * file is in the trash, or whose maker is no longer admin of the file.
 */
export class ShareDownloads {
  readonly #db: Database;
  readonly #downloads: Downloads;
  readonly #counted: CountedDownloads;
  readonly #proofs: ShareProofs;
  readonly #passwords: SharePasswords;
  readonly #sessions: ShareSessions;
  readonly #clock: Clock;

  constructor(deps: {
    db: Database;
    downloads: Downloads;
    counted: CountedDownloads;
    proofs: ShareProofs;
    sharePasswords: SharePasswords;
    shareSessions: ShareSessions;
    clock: Clock;
  }) {
    this.#db = deps.db;
    this.#downloads = deps.downloads;
    this.#counted = deps.counted;
    this.#proofs = deps.proofs;
    this.#passwords = deps.sharePasswords;
    this.#sessions = deps.shareSessions;
    this.#clock = deps.clock;
  }

  /**
   * Sends the content, as `Downloads.open` does. Runs two statements; one for an uncounted range.
   * Throws `not_found`, `share_password_required`, `share_password_wrong`, `too_many_attempts`, `range_not_satisfiable`,
   * `too_many_transfers`.
   */
  download(token: string, { password, download }: ShareCredentials, request: RequestInfo): Promise<Reply> {
    return this.#counted.run(async () => {
      const share = await this.#open(token);
      const { isProven, begun } = this.#counted.begin({ share, token, content: share.checksum, path: 'download' }, request, {
        download,
        isRange: isRange(share, request),
      });
      if (!isProven && !this.#sessions.find(share, request)) await this.#passwords.require(share, password, request);
      const content = { ...share, uuid: share.fileUuid };
      return this.#downloads.send(content, { linkOf: String(share.createdBy), network: request.network }, request, begun);
    });
  }

  /**
   * Returns a value for the parameter `download`. With it, a download that begins within a minute needs no password. Throws what
   * `download` throws.
   */
  async pass(token: string, password: string | undefined, from: Pick<RequestInfo, 'network' | 'signal'>): Promise<string> {
    const share = await this.#open(token);
    if (isUsedUp(share)) throw new Problem('not_found');
    await this.#passwords.require(share, password, from);
    return this.#proofs.provePassword(share, share.checksum);
  }

  async #open(token: string): Promise<OpenFileShare> {
    const share = await openShare(this.#db.tables, token, this.#clock.now());
    if (share?.kind !== 'file') throw new Problem('not_found');
    return share;
  }
}

/** Returns whether the reply contains only a part of the content. */
export const isRange = (
  { size, checksum }: { readonly size: number; readonly checksum: string },
  { headers }: RequestInfo,
): boolean => rangeApplies(headers['if-range'], checksum) && selectRange(headers['range'], size).kind === 'part';
