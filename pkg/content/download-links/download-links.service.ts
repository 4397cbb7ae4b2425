import { DOWNLOAD_LINK_SECONDS } from '../../api/lifetimes.ts';
import type { Actor } from '../../api/actor.ts';
import type { Reply, RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Sessions } from '../../access/sessions.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Sealer } from '../../runtime/sealing.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Exports } from '../exports/exports.service.ts';
import type { Files } from '../model/files/files.service.ts';
import type { FolderArchives } from '../archives/folder-archives.service.ts';
import type { Versions } from '../versions/versions.service.ts';
import type { Downloads } from '../downloads/downloads.service.ts';
import { findImageLink, isImageLink } from './image-links.sql.ts';
import { openLink, type SealedLink, sealLink } from './sealed-links.ts';
import { giverOf } from './giver.ts';

/** The token of an export; sealed tokens are longer. */
const EXPORT_TOKEN = /^[0-9a-f]{64}$/;

/**
 * Download links: an address that downloads one file, one version of it, or a folder's archive, for a minute, for clients that
 * send no Authorization header (a link in a frame, a player).
 *
 * Invariants:
 * - A link serves what its session may read when it is used: it ends with the session, the user's account and their permission.
 * - It is sealed under the tenant's data key: it can be neither forged nor read, and no other tenant opens it.
 * - A download by link counts against the limits of its user, as a download by token does.
 * - A link that was given to an LMS (`FetchLink`) needs no session. It serves that version until it expires, the file is gone, or
 *   the person who gave it may no longer sign in or read the file. It counts like a download by share link, since an LMS shows an
 *   image to a whole course at once.
 * - The same holds for an image link (`image-links.sql.ts`), except that it never expires and outlives the rotation of the data
 *   key.
 * - A link of an export (pkg/content/exports) needs no session: it serves the archive until it expires, or its user may no longer
 *   sign in.
 * - A link that is invalid for any reason looks like one that never existed.
 */
export class DownloadLinks {
  readonly #db: Database;
  readonly #files: Files;
  readonly #downloads: Downloads;
  readonly #versions: Versions;
  readonly #archives: FolderArchives;
  readonly #exports: Exports;
  readonly #sessions: Sessions;
  readonly #seals: { readonly sealer: Sealer; readonly tenantId: string };
  readonly #clock: Clock;

  constructor(deps: {
    db: Database;
    files: Files;
    downloads: Downloads;
    versions: Versions;
    archives: FolderArchives;
    exports: Exports;
    sessions: Sessions;
    sealer: Sealer;
    clock: Clock;
    tenantId: string;
  }) {
    this.#db = deps.db;
    this.#files = deps.files;
    this.#downloads = deps.downloads;
    this.#versions = deps.versions;
    this.#archives = deps.archives;
    this.#exports = deps.exports;
    this.#sessions = deps.sessions;
    this.#seals = { sealer: deps.sealer, tenantId: deps.tenantId };
    this.#clock = deps.clock;
  }

  /**
   * Returns the sealed part of a link to a file that the actor may read, or to a version of it. Takes no statement for a cached
   * file, one for a version. Throws `not_found`.
   */
  async issue(actor: Actor, fileId: string, version?: number): Promise<string> {
    const file = await this.#files.read(actor, fileId);
    if (version !== undefined) await this.#versions.get(actor, fileId, version);
    return this.#seal(actor, { file: file.uuid, ...(version === undefined ? {} : { version }) });
  }

  /** Creates a link to the archive of a folder that the actor may read. One statement. Throws `not_found`. */
  async issueForFolder(actor: Actor, folderId: string): Promise<string> {
    const folder = await this.#archives.read(actor, folderId);
    return this.#seal(actor, { folder: folder.uuid });
  }

  #seal(actor: Actor, target: Pick<SealedLink, 'file' | 'version' | 'folder'>): string {
    const until = this.#clock.now().getTime() + DOWNLOAD_LINK_SECONDS * 1000;
    return sealLink(this.#seals, { ...target, user: actor.userUuid, session: actor.sessionId, until });
  }

  /** Returns the file's content, as `Downloads.open` does. Throws `not_found`, `range_not_satisfiable`, `too_many_transfers`. */
  async open(sealed: string, request: RequestInfo): Promise<Reply> {
    if (EXPORT_TOKEN.test(sealed)) return this.#sendExport(sealed, request);
    const link = isImageLink(sealed) ? await findImageLink(this.#db, sealed) : this.#opened(sealed);
    if (!link) throw noSuchLink();
    if (!('session' in link) || link.session === undefined) return this.#sendGiven(link, request);
    try {
      const actor = await this.#sessions.authenticate({ userUuid: link.user, sessionId: link.session });
      if (actor.permissions.has('read:files')) return await this.#send(actor, link, request);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'unauthenticated') throw error;
    }
    throw noSuchLink();
  }

  async #sendExport(token: string, request: RequestInfo): Promise<Reply> {
    const content = await this.#exports.find(token);
    if (!content) throw new Problem('not_found', 'There is no such download link, or it has expired. Request the export again.');
    return this.#downloads.send(content, { person: content.user }, request);
  }

  async #sendGiven(link: Pick<SealedLink, 'file' | 'version' | 'user'>, request: RequestInfo): Promise<Reply> {
    const { file, version, user } = link;
    const giver = await giverOf(this.#db, user, this.#clock.now());
    if (!giver || file === undefined || version === undefined) throw noSuchLink();
    const sent = await this.#versions.open(giver, file, version, request, { linkOf: user, network: request.network });
    // Pages of the LMS show images of ours.
    return { ...sent, headers: { ...sent.headers, 'cross-origin-resource-policy': 'cross-origin' } };
  }

  #send(actor: Actor, { file, version, folder }: SealedLink, request: RequestInfo): Promise<Reply> {
    if (folder !== undefined) return this.#archives.open(actor, folder, request);
    if (file === undefined) throw noSuchLink();
    return version === undefined
      ? this.#downloads.open(actor, file, request)
      : this.#versions.open(actor, file, version, request);
  }

  /** Returns the uuid of the user who requested the link, while it and their session are valid. Uses no store. */
  holder(sealed: string): string | undefined {
    const link = this.#opened(sealed);
    return link?.session === undefined ? undefined : link.user;
  }

  #opened(sealed: string): SealedLink | undefined {
    const link = openLink(this.#seals, sealed);
    return link && link.until > this.#clock.now().getTime() ? link : undefined;
  }
}

const noSuchLink = (): Problem =>
  new Problem('not_found', 'There is no such download link, or it has expired. Request a new one.');
