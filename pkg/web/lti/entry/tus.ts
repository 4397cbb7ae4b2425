import { ApiError, errorOf, type OnConflict, unreachable } from './api.ts';
import type { Keeper, Session } from './session.ts';

const UPLOADS = '/api/v1/files/uploads';
const TUS = { 'Tus-Resumable': '1.0.0' };
/** Maximum of one request: a buffering proxy stores no more than this, and each new request carries a renewed token. */
const CHUNK_BYTES = 16 * 1024 * 1024;
/** Pauses between attempts without progress; then the person decides. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000];

export interface UploadTarget {
  /** null: the person's own root. */
  readonly folderId: string | null;
  readonly onConflict: OnConflict;
}

interface Deps {
  readonly session: Session;
  readonly keeper: Keeper;
  /** The part of the bytes that the server has or is receiving, 0 to 1. */
  readonly onProgress: (part: number) => void;
  /** Reports whether the upload waits for the server to answer again. */
  readonly onWaiting: (isWaiting: boolean) => void;
}

interface Answer {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly text: string;
}

interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Blob;
  readonly signal?: AbortSignal;
}

/**
 * Uploads a file with tus 1.0 (https://tus.io/protocols/resumable-upload), in requests that may be interrupted: the server keeps
 * received bytes for a day. The tab remembers the address, so choosing the same file again after a reload, or in the session of a
 * new launch, resumes the upload.
 */
export class TusUpload {
  readonly #file: File;
  readonly #target: UploadTarget;
  readonly #deps: Deps;
  /** If the reply to a creation is lost, the next attempt gets the same upload. */
  #creation: string = crypto.randomUUID();

  constructor(file: File, target: UploadTarget, deps: Deps) {
    this.#file = file;
    this.#target = target;
    this.#deps = deps;
  }

  /**
   * Sends the missing bytes, and returns the id of the resulting file. Retries with growing pauses if the connection is lost.
   * Throws ApiError; when `signal` aborts, its reason.
   */
  async send(signal: AbortSignal): Promise<string> {
    let failures = 0;
    for (;;) {
      try {
        return await this.#sendRest(signal, () => {
          failures = 0;
          this.#deps.onWaiting(false);
        });
      } catch (error) {
        signal.throwIfAborted();
        const pause = PAUSES_MS[failures];
        if (!(error instanceof ApiError) || !isPassing(error) || pause === undefined) throw error;
        failures += 1;
        this.#deps.onWaiting(true);
        await passed(error.retryAfter === undefined ? pause : error.retryAfter * 1_000, signal);
      }
    }
  }

  /** Deletes what the server has of it. Best effort: a remainder expires. */
  async discard(): Promise<void> {
    const url = this.#kept();
    this.#deps.keeper.set(this.#key(), '');
    if (url) await this.#ask({ method: 'DELETE', url, headers: {} }).catch(() => undefined);
  }

  async #sendRest(signal: AbortSignal, onMoved: () => void): Promise<string> {
    const known = this.#kept();
    let at = (known && (await this.#where(known, signal))) || (await this.#create(signal));
    for (;;) {
      if (at.fileId !== null) {
        this.#deps.keeper.set(this.#key(), '');
        return at.fileId;
      }
      onMoved();
      at = await this.#sendChunk(at, signal, onMoved);
    }
  }

  /** Returns undefined if the server no longer has it, or never had it from this person. */
  async #where(url: string, signal: AbortSignal): Promise<Position | undefined> {
    try {
      return positionOf(url, await this.#ask({ method: 'HEAD', url, headers: {}, signal }));
    } catch (error) {
      if (error instanceof ApiError && ['not_found', 'upload_expired', 'status_404', 'status_410'].includes(error.code))
        return undefined;
      throw error;
    }
  }

  async #create(signal: AbortSignal): Promise<Position> {
    const { folderId, onConflict } = this.#target;
    const metadata = {
      filename: this.#file.name,
      ...(this.#file.type === '' ? {} : { filetype: this.#file.type }),
      ...(folderId === null ? {} : { folder_id: folderId }),
      on_conflict: onConflict,
    };
    const pairs = Object.entries(metadata).map(([key, value]) => `${key} ${base64(value)}`);
    const headers = {
      'Upload-Length': String(this.#file.size),
      'Upload-Metadata': pairs.join(','),
      'Idempotency-Key': this.#creation,
    };
    const { text } = await this.#ask({ method: 'POST', url: UPLOADS, headers, signal });
    const { id, offset, file_id: fileId } = JSON.parse(text) as { id: string; offset: number; file_id: string | null };
    this.#creation = crypto.randomUUID();
    this.#deps.keeper.set(this.#key(), `${UPLOADS}/${id}`);
    return { url: `${UPLOADS}/${id}`, offset, fileId };
  }

  async #sendChunk({ url, offset }: Position, signal: AbortSignal, onMoved: () => void): Promise<Position> {
    const headers = { 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' };
    const body = this.#file.slice(offset, offset + CHUNK_BYTES);
    const onSent = (bytes: number): void => {
      onMoved();
      this.#deps.onProgress((offset + bytes) / this.#file.size);
    };
    return positionOf(url, await this.#ask({ method: 'PATCH', url, headers, body, signal }, onSent));
  }

  /** Only XMLHttpRequest reports how much of a body is sent. Throws ApiError; when the signal aborts, its reason. */
  #ask({ method, url, headers, body, signal }: Request, onSent?: (bytes: number) => void): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const request = new XMLHttpRequest();
      const stop = (): void => request.abort();
      signal?.addEventListener('abort', stop, { once: true });
      const end = (): void => signal?.removeEventListener('abort', stop);
      request.open(method, url);
      const sent = { ...TUS, ...headers, Authorization: `Bearer ${this.#deps.session.token}` };
      for (const [name, value] of Object.entries(sent)) request.setRequestHeader(name, value);
      request.upload.addEventListener('progress', ({ loaded }) => onSent?.(loaded));
      request.addEventListener('load', () => {
        end();
        const { status, responseText: text } = request;
        if (status < 300) return resolve({ status, text, header: (name) => request.getResponseHeader(name) });
        reject(text === '' ? new ApiError({ code: `status_${status}`, message: '' }) : errorOf(text));
      });
      request.addEventListener('error', () => {
        end();
        reject(unreachable());
      });
      request.addEventListener('abort', () => {
        end();
        reject((signal?.reason as Error | undefined) ?? unreachable());
      });
      request.send(body ?? null);
    });
  }

  #kept = (): string | null => this.#deps.keeper.get(this.#key()) || null;

  #key(): string {
    const { name, size, lastModified } = this.#file;
    const { folderId, onConflict } = this.#target;
    return `carrel:upload:${JSON.stringify([folderId, onConflict, name, size, lastModified])}`;
  }
}

interface Position {
  readonly url: string;
  readonly offset: number;
  /** Set once the upload is complete. */
  readonly fileId: string | null;
}

const positionOf = (url: string, { header }: Answer): Position => ({
  url,
  offset: Number(header('Upload-Offset') ?? 0),
  fileId: header('X-Carrel-File'),
});

/**
 * Returns whether the next attempt may succeed: no connection, a server that is being replaced, a request of this upload that is
 * still running, too many at once.
 */
const isPassing = ({ code }: ApiError): boolean =>
  ['unreachable', 'unavailable', 'internal', 'conflict', 'too_many_transfers', 'rate_limit_exceeded'].includes(code) ||
  /^status_(409|423|429|5..)$/.test(code);

/** Waits, at most until the browser is online again. Throws the signal's reason when it aborts. */
function passed(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      removeEventListener('online', go);
      signal.removeEventListener('abort', stop);
    };
    const go = (): void => {
      end();
      resolve();
    };
    const stop = (): void => {
      end();
      reject(signal.reason as Error);
    };
    const timer = setTimeout(go, ms);
    addEventListener('online', go);
    signal.addEventListener('abort', stop);
  });
}

/** Returns the text in UTF-8, in Base64. */
const base64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
