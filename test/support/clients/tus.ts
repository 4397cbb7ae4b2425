import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Api, ApiReply } from './api.ts';

export const TUS = { 'tus-resumable': '1.0.0' };
export const CHUNK = { 'content-type': 'application/offset+octet-stream' };

type Headers = Readonly<Record<string, string>>;

/** Upload-Metadata of these pairs. */
export const metadata = (pairs: Headers): string =>
  Object.entries(pairs)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');

/** Upload-Checksum of these bytes. */
export const checksum = (bytes: Buffer): string => `sha256 ${createHash('sha256').update(bytes).digest('base64')}`;

/** Headers of a creation; without `length` a later request says it. */
export const named = (name: string, length?: number, more: Headers = {}): Record<string, string> => ({
  ...(length === undefined ? { 'upload-defer-length': '1' } : { 'upload-length': String(length) }),
  'upload-metadata': metadata({ filename: name, ...more }),
});

export const begin = (api: Api, headers: Headers, body?: Buffer): Promise<ApiReply> =>
  api.raw('POST', '/files/uploads', { headers: { ...TUS, ...(body ? CHUNK : {}), ...headers }, ...(body ? { body } : {}) });

/** A stream goes without a Content-Length. */
export const send = (api: Api, id: string, offset: number, body: Buffer | Readable, headers: Headers = {}): Promise<ApiReply> =>
  api.raw('PATCH', `/files/uploads/${id}`, { headers: { ...TUS, ...CHUNK, 'upload-offset': String(offset), ...headers }, body });

export const look = (api: Api, id: string): Promise<ApiReply> => api.head(`/files/uploads/${id}`, { headers: TUS });
export const offsetOf = async (api: Api, id: string): Promise<number> => Number((await look(api, id)).headers['upload-offset']);
