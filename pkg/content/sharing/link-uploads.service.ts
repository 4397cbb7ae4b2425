import { Counter } from 'prom-client';
import type { ReplyHeaders, RequestInfo } from '../../api/endpoint.ts';
import { SHARE_SESSION_SECONDS } from '../../api/lifetimes.ts';
import { Problem } from '../../api/problem.ts';
import { validate } from '../../api/validation.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Random } from '../../runtime/random.ts';
import { HOUR_MS } from '../../runtime/time.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import type { Caller } from '../model/access/caller.ts';
import type { FileWriter, WritableFile } from '../model/files/file-writer.ts';
import type { FileRecord } from '../model/files/files.sql.ts';
import { nameFrom } from '../model/names/names.policy.ts';
import { nameWith } from '../model/names/alternative-names.policy.ts';
import type { Uploader } from '../uploads/uploader.ts';
import { LINK_UPLOAD_FIELDS, LinkUploadFields } from './folder-links.schema.ts';
import type { LinkAdmission } from './link-admission.ts';
import type { OpenFolderShare } from './open-shares.sql.ts';
import type { ShareSession, ShareSessions } from './share-sessions.ts';
import { countUpload, makerOf, recordUpload } from './share-uploads.sql.ts';

/** Uploads that one link accepts in an hour; further ones get 429 until the next hour. */
export const UPLOADS_PER_HOUR = 1_000;
/** The most characters of a sender's name that become part of a file's name. */
const SENDER_IN_NAME_MAX = 60;
/** Of a word in a file's name that no other file has. */
const RARE_BYTES = 4;

/**
 * Accepts uploads from anybody who has the link of a folder.
 *
 * Invariants:
 * - The file belongs to the maker of the link and counts towards their quota. `uploaded_by` is the name that the sender typed.
 * - A sender learns nothing about the folder: a file whose name is taken is renamed, and senders see only what they sent.
 * - Link, password and the maker's rights are checked again after the bytes have arrived, however long that took.
 * - A link accepts at most UPLOADS_PER_HOUR uploads an hour, however many race. Failed uploads count too.
 */
export class LinkUploads {
  readonly #db: Database;
  readonly #admission: LinkAdmission;
  readonly #sessions: ShareSessions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #results: Counter<'result'>;

  constructor(deps: {
    db: Database;
    admission: LinkAdmission;
    shareSessions: ShareSessions;
    clock: Clock;
    random: Random;
    metrics: Metrics;
  }) {
    this.#db = deps.db;
    this.#admission = deps.admission;
    this.#sessions = deps.shareSessions;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#results = new Counter({
      name: 'share_uploads_total',
      help: 'Uploads by share links: stored, or the code of the refusal',
      labelNames: ['result'],
      registers: [deps.metrics],
    });
  }

  /**
   * Runs a new upload by a link, and counts its result. `headers` start the session of the sender if there was none. Throws
   * `not_found`, `share_password_required`, `share_password_wrong`, `too_many_attempts`, `rate_limit_exceeded`, and what `upload`
   * throws.
   */
  begin<T>(token: string, request: RequestInfo, upload: (by: Uploader, headers: ReplyHeaders) => Promise<T>): Promise<T> {
    return this.#observed(async () => {
      const { share, session } = await this.#admission.enter(token, 'upload', request);
      await this.#count(share);
      const own = session ?? this.#sessions.begin();
      const headers = session ? {} : this.#sessions.headersOf(share, token, own);
      return upload(await this.#uploader(token, share, own, request), headers);
    });
  }

  /** Like `begin`, for an upload that has begun already: it does not count again. */
  continue<T>(token: string, request: RequestInfo, upload: (by: Uploader) => Promise<T>): Promise<T> {
    return this.#observed(async () => {
      const { share, session } = await this.#admission.enter(token, 'upload', request);
      return upload(await this.#uploader(token, share, session ?? this.#sessions.begin(), request));
    });
  }

  /** Runs one statement. Throws `not_found` if the link takes no uploads. */
  async require(token: string): Promise<void> {
    await this.#admission.open(token, 'upload');
  }

  async #observed<T>(upload: () => Promise<T>): Promise<T> {
    try {
      return await upload();
    } catch (error) {
      this.#results.inc({ result: error instanceof Problem ? error.code : 'failed' });
      throw error;
    }
  }

  async #count({ id }: OpenFolderShare): Promise<void> {
    const now = this.#clock.now().getTime();
    const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
    if (await countUpload(this.#db.tables, id, new Date(hour), UPLOADS_PER_HOUR)) return;
    throw new Problem(
      'rate_limit_exceeded',
      `This link has accepted ${UPLOADS_PER_HOUR} uploads in this hour, the maximum. Try again in the next hour.`,
      { retryAfter: Math.ceil((hour + HOUR_MS - now) / 1000) },
    );
  }

  async #uploader(token: string, share: OpenFolderShare, { id: session }: ShareSession, request: RequestInfo): Promise<Uploader> {
    const placement = { folder_id: share.folderUuid, on_conflict: 'rename' } as const;
    const by: Uploader = {
      actor: await makerOf(this.#db.tables, share, this.#clock.now()),
      counted: { linkOf: String(share.createdBy), network: request.network },
      sender: `link ${share.uuid}`,
      fields: LINK_UPLOAD_FIELDS,
      link: {
        shareId: share.id,
        session,
        inSession: (other) => ({ ...by, write: this.#writing(share, other, placement) }),
      },
      placementOf: () => placement,
      requireFields: senderOf,
      reauthenticate: async () => {
        const now = await this.#admission.open(token, 'upload');
        if (now.id !== share.id || now.passwordHash !== share.passwordHash) throw new Problem('not_found');
        return makerOf(this.#db.tables, now, this.#clock.now());
      },
      write: this.#writing(share, session, placement),
    };
    return by;
  }

  /** Returns a function that creates the file and records it for its sender. */
  #writing(share: OpenFolderShare, session: string, placement: { readonly folder_id: string }): Uploader['write'] {
    return async (tx, writer, caller, upload, fields) => {
      const sender = senderOf(fields);
      const rare = this.#random.hex(RARE_BYTES);
      const file = await createRenamed(tx, writer, caller, { ...upload, uploadedBy: sender }, { ...placement, rare });
      const now = this.#clock.now();
      const sent = { session, name: upload.name, size: upload.blob.size, createdAt: now };
      const before = new Date(now.getTime() - SHARE_SESSION_SECONDS * 1000);
      if (!(await recordUpload(tx, share.id, sent, before))) throw new Problem('not_found');
      this.#results.inc({ result: 'stored' });
      return { created: true, file };
    };
  }
}

/** Returns the name that the sender typed. Throws `validation_failed`. */
const senderOf = (fields: ReadonlyMap<string, string>): string =>
  validate(LinkUploadFields, Object.fromEntries(fields)).uploaded_by;

/**
 * Creates the file. If its name is taken, adds the sender's name, since the students of a course often send files of the same
 * name; if that is taken too, adds a number, and after all numbers a `rare` word: a telephone names all its pictures alike.
 */
async function createRenamed(
  tx: Tx,
  writer: FileWriter,
  caller: Caller,
  upload: WritableFile & { readonly uploadedBy: string },
  { folder_id, rare }: { readonly folder_id: string; readonly rare: string },
): Promise<FileRecord> {
  const sender = nameFrom(upload.uploadedBy, SENDER_IN_NAME_MAX);
  const withSender = sender === null ? upload.name : nameWith(upload.name, sender);
  const make = async (name: string, on_conflict: 'fail' | 'rename'): Promise<FileRecord | null> => {
    try {
      return (await writer.create(tx, caller, { ...upload, name }, { folder_id, on_conflict })).file;
    } catch (error) {
      if (error instanceof Problem && error.code === 'name_conflict') return null;
      throw error;
    }
  };
  const file =
    (await make(upload.name, 'fail')) ?? (await make(withSender, 'rename')) ?? (await make(nameWith(withSender, rare), 'rename'));
  if (!file) throw new Problem('name_conflict');
  return file;
}
