import type { FileRecord } from '../model/files/files.sql.ts';
import { attachment } from './disposition.policy.ts';

/** Content to send: the current content of a file, or that of an older version. */
export type Content = Pick<FileRecord, 'uuid' | 'version' | 'name' | 'mimeType' | 'size' | 'checksum' | 'blobName'>;

/** No script in a file may run in our origin: files are saved, never sniffed, and sandboxed if a browser shows them anyway. */
export const headersOf = (file: Content): Record<string, string> => ({
  etag: `"${file.checksum}"`,
  'accept-ranges': 'bytes',
  'cache-control': 'private, no-cache',
  'content-disposition': attachment(file.name),
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
});

/** Headers of this much of the content. */
export const contentOf = (file: Content, length: number): Record<string, string> => ({
  'content-type': file.mimeType ?? 'application/octet-stream',
  'content-length': String(length),
});
