import type { Actor } from '../../api/actor.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { Counted } from '../blobs/transfers.ts';
import type { Caller } from '../model/access/caller.ts';
import type { FileWriter, WritableFile } from '../model/files/file-writer.ts';
import type { FileRecord } from '../model/files/files.sql.ts';
import type { UploadTransfers } from './upload-transfers.ts';
import { UPLOAD_FIELDS, type UploadFields, uploadFields } from './uploads.schema.ts';

type Fields = ReadonlyMap<string, string>;

/** Who sends an upload, and by what right: somebody who is signed in, or who has the link of a folder. */
export interface Uploader {
  /** Who will own the file, with the rights by which it is made. */
  readonly actor: Actor;
  /** To whom the transfer counts. */
  readonly counted: Counted;
  /** With whom the upload shares the server's buffers. */
  readonly sender: string;
  /** Names of the text fields that belong to the file. */
  readonly fields: readonly string[];
  /** Undefined: the actor sends it. */
  readonly link?: UploadLink;
  /** Where the file goes. Throws `validation_failed` naming the fields that are wrong. */
  placementOf(fields: Fields): UploadFields;
  /** Throws `validation_failed` where a field is wrong or missing. */
  requireFields(fields: Fields): void;
  /** Who will own the file, with rights read again once the bytes are here. Throws where it may not be made any more. */
  reauthenticate(): Promise<Actor>;
  /** Makes the file, in the transaction of its caller. */
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
