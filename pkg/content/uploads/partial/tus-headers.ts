import { type ReplyHeaders, type RequestHeader, type RequestInfo } from '../../../api/endpoint.ts';
import { invalid, Problem } from '../../../api/problem.ts';
import { UNKNOWN_TYPE } from '../../blobs/media-type.ts';
import type { FilePart } from '../multipart.ts';
import type { PartialUpload } from './partial-uploads.sql.ts';

/** The version of the protocol (tus 1.0.0) and the extensions that the server supports. */
export const TUS_VERSION = '1.0.0';
export const TUS_EXTENSIONS = 'creation,creation-with-upload,creation-defer-length,expiration,termination,checksum';
export const CHUNK_TYPE = 'application/offset+octet-stream';

const BASE64 = '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?';
/** A key is printable ASCII without space and comma. */
const METADATA = `^([!-+\\x2d-~]+( ${BASE64})?(, ?[!-+\\x2d-~]+( ${BASE64})?)*)?$`;
const WHOLE_METADATA = new RegExp(METADATA);
const BYTES = '^(0|[1-9][0-9]{0,14})$';
const CHECKSUM = '^sha256 [A-Za-z0-9+/]{43}=$';
const METADATA_MAX_CHARACTERS = 8192;
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;

const header = (name: string, description: string, example: string, pattern?: string, required = false): RequestHeader => ({
  name,
  description,
  example,
  required,
  ...(pattern === undefined ? {} : { pattern }),
});

export const TAKES = {
  version: header('Tus-Resumable', 'The version of tus that the client speaks.', TUS_VERSION, '^1\\.0\\.0$', true),
  length: header('Upload-Length', 'Bytes of the whole upload.', '20000000', BYTES),
  deferred: header('Upload-Defer-Length', '1 in place of Upload-Length: a later request says it.', '1', '^1$'),
  metadata: {
    ...header(
      'Upload-Metadata',
      'Pairs of a key and a value in Base64: filename, filetype, folder_id, on_conflict (as of uploadFile). Others ' +
        'are stored and mean nothing.',
      'filename dGhlc2lzLnBkZg==',
      METADATA,
    ),
    maxLength: METADATA_MAX_CHARACTERS,
  },
  offset: header('Upload-Offset', 'Bytes of the upload before those of this request.', '0', BYTES, true),
  checksum: header(
    'Upload-Checksum',
    'SHA-256 of the bytes of this request, in Base64.',
    'sha256 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
    CHECKSUM,
  ),
} as const;

/** Throws `tus_version_unsupported`. */
export function requireVersion({ headers }: RequestInfo): void {
  if (headers['tus-resumable'] !== TUS_VERSION) throw new Problem('tus_version_unsupported');
}

/**
 * Refuses a part of a file that is sent in parallel parts (the extension concatenation): it would become a file of its own.
 * Throws `validation_failed`.
 */
export function requireWhole({ headers }: RequestInfo): void {
  if (headers['upload-concat'] !== undefined)
    throw invalid(
      'Upload-Concat',
      'is not supported: parts are not joined here. Send the file as one upload, one request after the other',
    );
}

/** Returns a number of bytes; undefined: there is no such header. Throws `validation_failed`. */
export function bytesIn({ headers }: RequestInfo, name: 'Upload-Length' | 'Upload-Offset'): number | undefined {
  const value = headers[name.toLowerCase()];
  if (value === undefined) return undefined;
  if (!new RegExp(BYTES).test(value)) throw invalid(name, 'must be a number of bytes');
  return Number(value);
}

/** Returns the length of a new upload; null: a later request declares it. Throws `validation_failed`. */
export function lengthIn(request: RequestInfo): number | null {
  const length = bytesIn(request, 'Upload-Length');
  const deferred = request.headers['upload-defer-length'];
  if (deferred !== undefined && deferred !== '1') throw invalid('Upload-Defer-Length', 'must be 1');
  if ((length === undefined) === (deferred === undefined))
    throw invalid('Upload-Length', 'is required, or Upload-Defer-Length in its place');
  return length ?? null;
}

/** Returns the SHA-256 that the bytes of the request must have, in Base64. Throws `validation_failed`. */
export function checksumIn({ headers }: RequestInfo): string | undefined {
  const value = headers['upload-checksum'];
  if (value !== undefined && !new RegExp(CHECKSUM).test(value))
    throw invalid('Upload-Checksum', 'must be sha256 and 32 bytes in Base64');
  return value?.slice('sha256 '.length);
}

/**
 * Reads from Upload-Metadata what a part of a form says about its file, with the fields of these names. Throws
 * `validation_failed`.
 */
export function partOf(metadata: string, names: readonly string[]): Omit<FilePart, 'stream' | 'signal'> {
  const pairs = pairsOf(metadata);
  if (!pairs.get('filename')) throw invalid('Upload-Metadata', 'must have a filename');
  const type = (pairs.get('filetype') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type && !MEDIA_TYPE.test(type)) throw invalid('filetype', 'must be a media type');
  const fields = new Map([...pairs].filter(([key]) => names.includes(key)));
  return { name: pairs.get('filename'), mimeType: type || UNKNOWN_TYPE, fields };
}

function pairsOf(metadata: string): Map<string, string> {
  if (metadata.length > METADATA_MAX_CHARACTERS)
    throw invalid('Upload-Metadata', `must be at most ${METADATA_MAX_CHARACTERS} characters`);
  const pairs = new Map<string, string>();
  if (!WHOLE_METADATA.test(metadata)) throw invalid('Upload-Metadata', 'must be pairs of a key and a value in Base64');
  for (const pair of metadata === '' ? [] : metadata.split(',')) {
    const [key = '', value = ''] = pair.trim().split(' ');
    if (pairs.has(key)) throw invalid('Upload-Metadata', 'must have each key once');
    pairs.set(key, textOf(value));
  }
  return pairs;
}

function textOf(base64: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  } catch (error) {
    throw new Problem('validation_failed', 'Upload-Metadata: must have values in UTF-8', {
      cause: error,
      details: [{ field: 'Upload-Metadata', message: 'must have values in UTF-8' }],
    });
  }
}

/** Headers of every reply about an upload. */
export const headersOf = ({ received, expiresAt, file }: PartialUpload): ReplyHeaders => ({
  'Tus-Resumable': TUS_VERSION,
  'Upload-Offset': String(received),
  'Upload-Expires': expiresAt.toUTCString(),
  ...(file === null ? {} : { 'X-Carrel-File': file }),
});

/** Returns the headers of a reply to HEAD. */
export const stateOf = (upload: PartialUpload): ReplyHeaders => ({
  ...headersOf(upload),
  'Cache-Control': 'no-store',
  ...(upload.length === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(upload.length) }),
  ...(upload.metadata === '' ? {} : { 'Upload-Metadata': upload.metadata }),
});
