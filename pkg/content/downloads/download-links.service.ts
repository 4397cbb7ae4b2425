import { z } from 'zod';
import { DOWNLOAD_LINK_SECONDS } from '../../api/lifetimes.ts';
import type { Actor } from '../../api/actor.ts';
import type { Reply, RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Sessions } from '../../access/sessions.ts';
import type { Clock } from '../../runtime/clock.ts';
import { SealError, type Sealer } from '../../runtime/sealing.ts';
import type { Exports } from '../exports/exports.service.ts';
import type { Files } from '../files/files.service.ts';
import type { FolderArchives } from '../archives/folder-archives.service.ts';
import type { Versions } from '../versions/versions.service.ts';
import type { Downloads } from './downloads.service.ts';

/** The sealed content of a link, to a file or a folder; `until` in milliseconds since the epoch. */
const SealedLink = z.object({
  file: z.uuid().optional(),
  version: z.int().optional(),
  folder: z.uuid().optional(),
  user: z.uuid(),
  session: z.uuid(),
  until: z.int(),
});
type Link = z.output<typeof SealedLink>;

/** That of an export; what is sealed is longer. */
const EXPORT_TOKEN = /^[0-9a-f]{64}$/;

/**
 * Download links: an address that downloads one file, one version of it, or a folder's archive, for a minute, for clients that send no Authorization header (a link in a frame, a player).
 *
 * Invariants:
 * - A link serves what its session may read when it is used: it ends with the session, the user's account and their permission.
 * - It is sealed under the tenant's data key: it can be neither forged nor read, and no other tenant opens it.
 * - A download by link counts against the limits of its user, as a download by token does.
 * - A link of an export (pkg/content/exports) needs no session: it serves the archive until it expires, or its user may no longer sign in.
 * - A link that is invalid for any reason looks like one that never existed.
 */
export class DownloadLinks {
  readonly #files: Files;
  readonly #downloads: Downloads;
  readonly #versions: Versions;
  readonly #archives: FolderArchives;
  readonly #exports: Exports;
  readonly #sessions: Sessions;
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #tenantId: string;

  constructor(deps: {
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
    this.#files = deps.files;
    this.#downloads = deps.downloads;
    this.#versions = deps.versions;
    this.#archives = deps.archives;
    this.#exports = deps.exports;
    this.#sessions = deps.sessions;
    this.#sealer = deps.sealer;
    this.#clock = deps.clock;
    this.#tenantId = deps.tenantId;
  }

  /**
   * The sealed part of a link to a file that the actor may read, or to a version of it. No statement for a file that is cached, one for a version.
   * Throws `not_found`.
   */
  async issue(actor: Actor, fileId: string, version?: number): Promise<string> {
    const file = await this.#files.read(actor, fileId);
    if (version !== undefined) await this.#versions.get(actor, fileId, version);
    return this.#seal(actor, { file: file.uuid, ...(version === undefined ? {} : { version }) });
  }

  /** The same of a link to the archive of a folder that the actor may read. One statement. Throws `not_found`. */
  async issueForFolder(actor: Actor, folderId: string): Promise<string> {
    const folder = await this.#archives.read(actor, folderId);
    return this.#seal(actor, { folder: folder.uuid });
  }

  #seal(actor: Actor, target: Pick<Link, 'file' | 'version' | 'folder'>): string {
    const until = this.#clock.now().getTime() + DOWNLOAD_LINK_SECONDS * 1000;
    const link: Link = { ...target, user: actor.userUuid, session: actor.sessionId, until };
    return this.#sealer.seal(JSON.stringify(link), this.#associatedData());
  }

  /** The file's content, as `Downloads.open` gives it. Throws `not_found`, `range_not_satisfiable`, `too_many_transfers`. */
  async open(sealed: string, request: RequestInfo): Promise<Reply> {
    if (EXPORT_TOKEN.test(sealed)) return this.#sendExport(sealed, request);
    const link = this.#opened(sealed);
    if (!link) throw noSuchLink();
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

  #send(actor: Actor, { file, version, folder }: Link, request: RequestInfo): Promise<Reply> {
    if (folder !== undefined) return this.#archives.open(actor, folder, request);
    if (file === undefined) throw noSuchLink();
    return version === undefined ? this.#downloads.open(actor, file, request) : this.#versions.open(actor, file, version, request);
  }

  /** uuid of the user who requested the link, while it is valid; asks no store. */
  holder(sealed: string): string | undefined {
    return this.#opened(sealed)?.user;
  }

  #opened(sealed: string): Link | undefined {
    let text: string;
    try {
      text = this.#sealer.open(sealed, this.#associatedData());
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      return undefined;
    }
    // Another release may have sealed it in another shape.
    const { data: link } = SealedLink.safeParse(parsed(text));
    return link && link.until > this.#clock.now().getTime() ? link : undefined;
  }

  #associatedData(): string[] {
    return [this.#tenantId, 'files', 'download', 'ticket'];
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const noSuchLink = (): Problem =>
  new Problem('not_found', `There is no such download link, or its ${DOWNLOAD_LINK_SECONDS} s are over. Request a new one.`);
