import type { RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import { isUsedUp, type OpenFolderShare, openShare } from './open-shares.sql.ts';
import { passwordOf } from './share-password-header.ts';
import type { SharePasswords } from './share-passwords.ts';
import type { ShareSession, ShareSessions } from './share-sessions.ts';

/**
 * Who may do what by the link of a folder.
 *
 * Invariant: a link that is unknown, malformed, inactive, expired, used up, of a trashed folder, whose maker is no admin of the
 * folder any more, or that is not for what is asked, is 404, all alike.
 */
export class LinkAdmission {
  readonly #db: Database;
  readonly #passwords: SharePasswords;
  readonly #sessions: ShareSessions;
  readonly #clock: Clock;

  constructor(deps: { db: Database; sharePasswords: SharePasswords; shareSessions: ShareSessions; clock: Clock }) {
    this.#db = deps.db;
    this.#passwords = deps.sharePasswords;
    this.#sessions = deps.shareSessions;
    this.#clock = deps.clock;
  }

  /** A link by which this may be done, used up or not. One statement. Throws `not_found`. */
  async open(token: string, wanted: 'download' | 'upload'): Promise<OpenFolderShare> {
    const share = await openShare(this.#db.tables, token, this.#clock.now());
    if (share?.kind !== 'folder' || (share.mode !== wanted && share.mode !== 'both')) throw new Problem('not_found');
    return share;
  }

  /** The same, not used up, for somebody who knows the password. One statement. Throws as `open` and `admit`. */
  async enter(
    token: string,
    wanted: 'download' | 'upload',
    request: RequestInfo,
  ): Promise<{ share: OpenFolderShare; session: ShareSession | undefined }> {
    const share = await this.open(token, wanted);
    if (isUsedUp(share)) throw new Problem('not_found');
    return { share, session: await this.admit(share, request) };
  }

  /**
   * The session of the request; undefined: it has none, and has sent the password, if there is one. Throws
   * `share_password_required`, `share_password_wrong`, `too_many_attempts`.
   */
  async admit(share: OpenFolderShare, request: RequestInfo): Promise<ShareSession | undefined> {
    const session = this.#sessions.find(share, request);
    if (!session) await this.#passwords.require(share, passwordOf(request), request);
    return session;
  }
}
