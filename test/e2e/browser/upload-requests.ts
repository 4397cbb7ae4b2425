import type { Page } from 'playwright-core';
import { waitFor } from '../../support/wait.ts';

/** Where large uploads are made. Small files, the session and lists have other addresses. */
const UPLOADS = '/api/v1/files/uploads';

interface UploadRequest {
  readonly method: string;
  /** The path of its address: of UPLOADS for a new upload, else of one upload. */
  readonly path: string;
  /** Where the bytes of a PATCH begin in the file; of other methods NaN. */
  readonly offset: number;
}

/** How far an upload is. */
export interface Position {
  /** Of the upload. */
  readonly path: string;
  /** The bytes that the server says it has. */
  readonly confirmed: number;
  /** The number of requests so far. */
  readonly requests: number;
}

export interface UploadRequests {
  /** Where the upload is, once the server has confirmed so many bytes. */
  at(bytes: number): Promise<Position>;
  /** The requests after a position. */
  since(position: Position): readonly UploadRequest[];
}

/** The requests of a page, also after a reload, with which it sends one large file from now on. */
export function uploadRequests(page: Page): UploadRequests {
  const sent: UploadRequest[] = [];
  let confirmed = { path: '', bytes: 0 };
  const pathOf = (url: string): string | undefined => {
    const { pathname } = new URL(url);
    return pathname === UPLOADS || pathname.startsWith(`${UPLOADS}/`) ? pathname : undefined;
  };
  page.on('request', (request) => {
    const path = pathOf(request.url());
    if (path === undefined) return;
    sent.push({ method: request.method(), path, offset: Number(request.headers()['upload-offset'] ?? Number.NaN) });
  });
  page.on('response', (reply) => {
    const path = pathOf(reply.url());
    if (path === undefined || reply.request().method() !== 'PATCH' || !reply.ok()) return;
    confirmed = { path, bytes: Number(reply.headers()['upload-offset'] ?? Number.NaN) };
  });
  return {
    at: async (bytes) => {
      await waitFor(`${bytes} bytes to be confirmed`, () => confirmed.bytes >= bytes);
      return { path: confirmed.path, confirmed: confirmed.bytes, requests: sent.length };
    },
    since: ({ requests }) => sent.slice(requests),
  };
}
