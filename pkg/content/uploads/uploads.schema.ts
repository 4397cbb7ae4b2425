import { lookup } from 'mrmime';
import { z } from 'zod';
import { invalid } from '../../api/problem.ts';
import { text, Uuid } from '../../api/schemas.ts';
import { validate } from '../../api/validation.ts';
import { UNKNOWN_TYPE } from '../blobs/media-type.ts';
import { ON_CONFLICT } from '../model/files/files.schema.ts';
import { extensionOf, nameFault, normalName } from '../model/names/names.policy.ts';
import type { FilePart } from './multipart.ts';
import { MIB } from '../../runtime/bytes.ts';

/** docs/design/records.md, File. */
const MIME_TYPE_MAX_CHARACTERS = 100;
/** The default limit of a file is the largest multipart upload to S3 (10,000 parts of 8 MiB); the owner's quota applies too. */
export const DEFAULT_MAX_UPLOAD_BYTES = 10_000 * 8 * MIB;

const UploadFields = z.object({ folder_id: Uuid.optional(), on_conflict: z.enum(ON_CONFLICT).default('fail') });
export type UploadFields = z.output<typeof UploadFields>;
const VersionFields = z.object({ comment: text(0, 2000).optional() });

export const UPLOAD_FIELDS = ['folder_id', 'on_conflict'] as const;
export const VERSION_FIELDS = ['comment'] as const;

const read =
  <S extends z.ZodObject>(schema: S) =>
  (fields: ReadonlyMap<string, string>): z.output<S> =>
    validate(schema, Object.fromEntries(fields));

/** Parses the text fields of an upload; an empty one counts as absent. Throws `validation_failed` with the wrong ones. */
export const uploadFields = (fields: ReadonlyMap<string, string>): UploadFields =>
  read(UploadFields)(new Map([...fields].filter(([, value]) => value !== '')));
export const versionFields = read(VersionFields);

/** Returns the name as it was sent. Browsers send a part without one where no file was chosen. Throws `validation_failed`. */
export function sentName(part: Pick<FilePart, 'name'>): string {
  if (part.name === undefined || part.name === '') throw invalid('file', 'needs a file name');
  return part.name;
}

/** Returns the name of an uploaded file, in NFC. Throws `validation_failed`. */
export function uploadName(part: Pick<FilePart, 'name'>): string {
  const name = normalName(sentName(part));
  const fault = nameFault(name);
  if (fault !== null) throw invalid('file', `its name ${fault}`);
  return name;
}

/**
 * Returns the media type that an uploaded file called `name` claims: the client's or, if the client's says nothing, that of the
 * extension. Its first bytes may tell another (media-type.ts). Throws `validation_failed`.
 */
export function uploadType(part: Pick<FilePart, 'mimeType'>, name: string): string {
  if (part.mimeType.length > MIME_TYPE_MAX_CHARACTERS)
    throw invalid('file', `its Content-Type must have at most ${MIME_TYPE_MAX_CHARACTERS} characters`);
  if (part.mimeType !== UNKNOWN_TYPE) return part.mimeType;
  return lookup(extensionOf(name) ?? '') ?? UNKNOWN_TYPE;
}
