import type { Upload } from './queue.ts';

/** Up to this size a file is one request: the server then needs no reservation, and a break costs little. Bytes. */
export const SMALL_BYTES = 8 * 1024 * 1024;
/** Below this size an upload reports no progress: of thousands of them the reports would cost more than the bytes. */
export const TINY_BYTES = 256 * 1024;

export interface Steps {
  readonly signal: AbortSignal;
  /** The folder is there; the bytes follow. */
  readonly onSending: () => void;
  readonly onProgress: (bytes: number) => void;
  /** Gets the address of a large file's bytes at the server; '': they are gone, so that the upload starts anew. */
  readonly onUrl: (url: string) => void;
  /** The address that `onUrl` had before a reload, or before a pause. */
  readonly url: string;
  /** An Idempotency-Key: the same one after a lost reply or a reload, another one for an upload that starts anew. */
  readonly key: () => string;
}

/** Sends one upload of the list to the server. */
export interface Sender {
  /** True: the server carries out a small upload once, although it is sent again after a reload. */
  readonly isRepeatable: boolean;
  /** Returns the id of the resulting file; undefined for an empty folder. Throws Refused; when the signal aborts, its reason. */
  send(upload: Upload, steps: Steps): Promise<string | undefined>;
  /** Deletes what the server has of an upload. Best effort: a remainder expires. */
  discard(url: string): Promise<void>;
}

/** To the browser, a file that was deleted or changed on the disk is a request that breaks. */
export const isReadable = (file: File): Promise<boolean> =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );
