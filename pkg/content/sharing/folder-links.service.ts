import { type Reply, reply, type RequestInfo } from '../../api/endpoint.ts';
import { type Page, page, PAGE_LIMIT_MAX } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import { isoTime } from '../../store/postgres/client.ts';
import type { FolderArchives } from '../archives/folder-archives.service.ts';
import type { Downloads } from '../downloads/downloads.service.ts';
import { childRows, KINDS } from '../lists/child-rows.ts';
import { CHILDREN } from '../lists/folder-list.sql.ts';
import type { CountedDownloads } from './counted-downloads.ts';
import type { SentFile, SharedChild, SharedChildQuery, SharedView } from './folder-links.schema.ts';
import type { LinkAdmission } from './link-admission.ts';
import { isUsedUp, type OpenFolderShare, type OpenShare, openShare } from './open-shares.sql.ts';
import { isRange } from './share-downloads.service.ts';
import { passwordOf } from './share-password-header.ts';
import type { SharePasswords } from './share-passwords.ts';
import type { ShareSession, ShareSessions } from './share-sessions.ts';
import { freeBytesOf, type SentRow, sentIn } from './share-uploads.sql.ts';
import { findFileBelow } from './shared-content.sql.ts';
import { termsOf } from './shares.view.ts';

/** The most uploads that a session is shown. */
const SENT_MAX = 100;

/** What the page of a link shows first; `children`: null where there is nothing to list, or not yet. */
export interface LinkLook {
  readonly view: SharedView;
  readonly children: Page<SharedChild> | null;
}

/**
 * Serves the link of a folder to anybody who has it: the folder's terms, the files and folders below it, and their content.
 *
 * Invariants:
 * - Nothing outside the folder is shown or sent; paths, owners and tags are never shown.
 * - A link for uploads only shows nothing in the folder.
 */
export class FolderLinks {
  readonly #db: Database;
  readonly #downloads: Downloads;
  readonly #archives: FolderArchives;
  readonly #counted: CountedDownloads;
  readonly #admission: LinkAdmission;
  readonly #passwords: SharePasswords;
  readonly #sessions: ShareSessions;
  readonly #clock: Clock;
  readonly #maxBytes: number;

  constructor(deps: {
    db: Database;
    downloads: Downloads;
    archives: FolderArchives;
    counted: CountedDownloads;
    admission: LinkAdmission;
    sharePasswords: SharePasswords;
    shareSessions: ShareSessions;
    clock: Clock;
    /** The largest size of one file, bytes. */
    maxBytes: number;
  }) {
    this.#db = deps.db;
    this.#downloads = deps.downloads;
    this.#archives = deps.archives;
    this.#counted = deps.counted;
    this.#admission = deps.admission;
    this.#passwords = deps.sharePasswords;
    this.#sessions = deps.shareSessions;
    this.#clock = deps.clock;
    this.#maxBytes = deps.maxBytes;
  }

  /**
   * Shows what a link shares: a file or a folder. If the password was sent or the link has none, the reply names it and starts a
   * session. Runs one statement, none for a malformed token; for uploads one more, in a session two more. Throws `not_found`,
   * `share_password_wrong`, `too_many_attempts`.
   */
  async show(token: string, request: RequestInfo): Promise<Reply> {
    const share = await this.#open(token);
    const session = this.#sessions.find(share, request);
    if (session) return reply(200, await this.#presentForUploads(share, await this.#sent(share, session)));
    const locked = this.#presentLocked(share);
    const password = passwordOf(request);
    if (locked.has_password && (password === undefined || password === '')) return reply(200, locked);
    await this.#passwords.require(share, password, request);
    return reply(200, await this.#presentForUploads(share, []), this.#sessions.headersOf(share, token, this.#sessions.begin()));
  }

  /**
   * Shows a link to somebody who has sent neither its password nor a session. A folder that they may list comes with its first
   * page. Runs one statement; three with a list. Throws `not_found`.
   */
  async look(token: string): Promise<LinkLook> {
    const share = await this.#open(token);
    if (share.passwordHash !== null) return { view: this.#presentLocked(share), children: null };
    const view = this.#present(share, []);
    const isListed = share.kind === 'folder' && share.mode !== 'upload';
    return { view, children: isListed ? await this.#list(share, undefined, { limit: PAGE_LIMIT_MAX }) : null };
  }

  /**
   * Lists the folder, or a folder below it: folders first, then files. Runs at most three statements. Throws `not_found`,
   * `share_password_required`, `share_password_wrong`, `too_many_attempts`.
   */
  async children(token: string, { folder_id: id, ...query }: SharedChildQuery, request: RequestInfo): Promise<Page<SharedChild>> {
    const { share } = await this.#admission.enter(token, 'download', request);
    return this.#list(share, id, query);
  }

  /** `id`: the folder of the link, by default, or one below it. Runs two statements. Throws `not_found`. */
  async #list(
    share: OpenFolderShare,
    id: Uuid | undefined,
    query: Omit<SharedChildQuery, 'folder_id'>,
  ): Promise<Page<SharedChild>> {
    const parent = { id: id ?? share.folderUuid, read: belowOf(share) };
    const { request: wanted, folders, files } = await childRows(this.#db, parent, query);
    const items = [
      ...folders.map((row) => ({ row, child: folderChild(row) })),
      ...files.map((row) => ({ row, child: fileChild(row) })),
    ];
    return page(
      wanted.page,
      items,
      ({ child }): SharedChild => child,
      ({ row, child }) => [KINDS[child.type], ...CHILDREN.valuesOf(wanted.inner, row)],
    );
  }

  /**
   * Sends the content of a file below the folder, as `Downloads.open` does. Runs three statements; two for an uncounted range.
   * Throws `not_found`, `share_password_required`, `share_password_wrong`, `too_many_attempts`, `range_not_satisfiable`,
   * `too_many_transfers`.
   */
  download(token: string, id: Uuid, download: string | undefined, request: RequestInfo): Promise<Reply> {
    return this.#counted.run(async () => {
      const share = await this.#admission.open(token, 'download');
      const file = await findFileBelow(this.#db.tables, share.folderId, id);
      if (!file) throw new Problem('not_found');
      const linked = { share, token, content: `${file.uuid} ${file.checksum}`, path: `files/${file.uuid}/download` };
      const { isProven, begun } = this.#counted.begin(linked, request, { download, isRange: isRange(file, request) });
      if (!isProven) await this.#admission.admit(share, request);
      return this.#downloads.send(file, { linkOf: String(share.createdBy), network: request.network }, request, begun);
    });
  }

  /**
   * Sends the folder as an archive, as `FolderArchives.open` does. It counts as one download. Runs one statement more than that,
   * and the one that counts. Throws what `download` throws, and `archive_too_large`, `unavailable`.
   */
  zip(token: string, download: string | undefined, request: RequestInfo): Promise<Reply> {
    return this.#counted.run(async () => {
      const share = await this.#admission.open(token, 'download');
      // Only the planned archive tells whether a proof matches it. No archive is planned for a client without any proof.
      const mayBeProven = this.#counted.hasProof(share, request, download);
      if (!mayBeProven && isUsedUp(share)) throw new Problem('not_found');
      if (!mayBeProven) await this.#admission.admit(share, request);
      const folder = { id: share.folderId, uuid: share.folderUuid, name: share.name };
      const counted = { linkOf: String(share.createdBy), network: request.network };
      return this.#archives.send(folder, counted, request, async ({ etag, isRange }) => {
        const linked = { share, token, content: `zip ${etag ?? ''}`, path: 'zip' };
        const { isProven, begun } = this.#counted.begin(linked, request, { download, isRange });
        if (mayBeProven && !isProven) await this.#admission.admit(share, request);
        return begun();
      });
    });
  }

  async #open(token: string): Promise<OpenShare> {
    const share = await openShare(this.#db.tables, token, this.#clock.now());
    if (!share) throw new Problem('not_found');
    return share;
  }

  async #sent({ id, mode }: OpenShare, session: ShareSession): Promise<SentFile[]> {
    if (mode === 'download') return [];
    return (await sentIn(this.#db.tables, id, session.id, SENT_MAX)).map(presentSent);
  }

  /** Throws `not_found` where the link is used up. */
  #present(share: OpenShare, sent: readonly SentFile[]): SharedView {
    const { mode, name } = share;
    if (share.kind === 'file')
      return { kind: 'file', mode: 'download', name, size: share.size, mime_type: share.mimeType, ...termsOf(share) };
    const maxUploadSize = mode === 'download' ? null : this.#maxBytes;
    return { kind: 'folder', mode, name, ...termsOf(share), max_upload_size: maxUploadSize, sent: [...sent] };
  }

  /** The same, with the largest file that fits into the maker's quota. */
  async #presentForUploads(share: OpenShare, sent: readonly SentFile[]): Promise<SharedView> {
    const view = this.#present(share, sent);
    if (view.kind === 'file' || view.mode === 'download') return view;
    const free = await freeBytesOf(this.#db.tables, share.createdBy, this.#clock.now());
    return { ...view, max_upload_size: Math.min(this.#maxBytes, roundedDown(free)) };
  }

  /** Leaves out everything that only people with the password may see. */
  #presentLocked(share: OpenShare): SharedView {
    const view = this.#present(share, []);
    return view.kind === 'file' ? { ...view, name: null, size: null, mime_type: null } : { ...view, name: null };
  }
}

/** Rounds down by at most a 32nd: the exact rest would show each sender how large the files of the others are. */
function roundedDown(bytes: number): number {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, bytes))) - 5);
  return Math.floor(bytes / step) * step;
}

export const presentSent = ({ name, size, createdAt }: SentRow): SentFile => ({ name, size, sent_at: createdAt.toISOString() });

/** Returns the row of a live folder if it is the folder of the link, or below it. Throws `not_found`. */
const belowOf =
  ({ folderUuid }: OpenFolderShare) =>
  <F extends { readonly ancestors: readonly { readonly uuid: string }[] }>(row: F | undefined): F => {
    if (!row?.ancestors.some(({ uuid }) => uuid === folderUuid)) throw new Problem('not_found');
    return row;
  };

const folderChild = (row: { uuid: string; name: string; updatedAt: Date }): SharedChild => ({
  type: 'folder',
  id: row.uuid,
  name: row.name,
  updated_at: row.updatedAt.toISOString(),
});

const fileChild = (row: {
  uuid: string;
  name: string;
  size: number;
  mimeType: string | null;
  updatedAt: string;
}): SharedChild => ({
  type: 'file',
  id: row.uuid,
  name: row.name,
  size: row.size,
  mime_type: row.mimeType,
  updated_at: isoTime(row.updatedAt),
});
