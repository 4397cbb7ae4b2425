import type { Actor } from '../../api/actor.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { Counted } from '../blobs/transfers.ts';
import type { Caller } from '../model/access/caller.ts';
import type { FileWriter, WritableFile } from '../model/files/file-writer.ts';
import type { FileRecord } from '../model/files/files.sql.ts';
import type { UploadTransfers } from './upload-transfers.ts';
import { UPLOAD_FIELDS, type UploadFields, uploadFields } from './uploads.schema.ts';

type Fields = ReadonlyMap<string, string>;

/** The sender of an upload with their rights: somebody who is signed in, or who has the link of a folder. */
export interface Uploader {
  /** The future owner of the file, with the rights that allow it. */
  readonly actor: Actor;
  /** The party that the transfer counts against. */
  readonly counted: Counted;
  /** Uploads with the same value share one part of the server's buffers. */
  readonly sender: string;
  /** Names of the text fields that belong to the file. */
  readonly fields: readonly string[];
  /** Undefined: the actor sends it. */
  readonly link?: UploadLink;
  /** Returns the destination of the file. Throws `validation_failed` with the wrong fields. */
  placementOf(fields: Fields): UploadFields;
  /** Throws `validation_failed` if a field is wrong or missing. */
  requireFields(fields: Fields): void;
  /** Returns the future owner, with rights read again after the bytes have arrived. Throws if the file is no longer allowed. */
  reauthenticate(): Promise<Actor>;
  /** Creates the file, in the transaction of its caller. */
  write(
    tx: Tx,
    writer: FileWriter,
    caller: Caller,
    upload: WritableFile,
    fields: Fields,
  ): Promise<{ readonly created: boolean; readonly file: FileRecord }>;
}

/** The link of a folder, and the session of whoever uploads by it. */
export interface UploadLink {
  readonly shareId: number;
  readonly session: string;
  /** The same uploader, in the session with which an upload began. */
  inSession(session: string): Uploader;
}

/** An uploader who is signed in. */
export const signedIn = (actor: Actor, transfers: UploadTransfers): Uploader => ({
  actor,
  counted: { person: actor.userUuid },
  sender: actor.userUuid,
  fields: UPLOAD_FIELDS,
  placementOf: uploadFields,
  requireFields: uploadFields,
  reauthenticate: () => transfers.reauthenticate(actor),
  write: (tx, writer, caller, upload, fields) => writer.create(tx, caller, upload, uploadFields(fields)),
});
