import type { RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import { isUsedUp, type OpenFolderShare, openShare } from './open-shares.sql.ts';
import { passwordOf } from './share-password-header.ts';
import type { SharePasswords } from './share-passwords.ts';
import type { ShareSession, ShareSessions } from './share-sessions.ts';

/**
 * Decides who may do what by the link of a folder.
 *
 * Invariant: every link that does not work gets the same 404: one that is unknown, malformed, inactive, expired or used up, whose
 * folder is in the trash, whose maker is no longer admin of the folder, or which does not allow the requested operation.
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

  /** Returns the link if it allows the operation, even if it is used up. Runs one statement. Throws `not_found`. */
  async open(token: string, wanted: 'download' | 'upload'): Promise<OpenFolderShare> {
    const share = await openShare(this.#db.tables, token, this.#clock.now());
    if (share?.kind !== 'folder' || (share.mode !== wanted && share.mode !== 'both')) throw new Problem('not_found');
    return share;
  }

  /** Like `open`, but refuses a used-up link and checks the password. Throws what `open` and `admit` throw. */
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
   * Returns the session of the request. Returns undefined if it has no session but sent the right password, or the link has no
   * password. Throws `share_password_required`, `share_password_wrong`, `too_many_attempts`.
   */
  async admit(share: OpenFolderShare, request: RequestInfo): Promise<ShareSession | undefined> {
    const session = this.#sessions.find(share, request);
    if (!session) await this.#passwords.require(share, passwordOf(request), request);
    return session;
  }
}
