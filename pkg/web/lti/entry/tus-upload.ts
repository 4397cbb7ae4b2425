import { type Ask, asking, Refused } from '../../uploads/request.ts';
import { discard, sendByTus } from '../../uploads/tus.ts';
import { ApiError, type OnConflict } from './api.ts';
import type { Keeper, Session } from './session.ts';

const UPLOADS = '/api/v1/files/uploads';
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

/**
 * Uploads a file of a launch with tus, and retries by itself. The tab remembers the address, so choosing the same file again
 * after a reload, or in the session of a new launch, resumes the upload.
 */
export class TusUpload {
  readonly #file: File;
  readonly #target: UploadTarget;
  readonly #deps: Deps;
  readonly #ask: Ask;
  /** If the reply to a creation is lost, the next attempt gets the same upload. */
  #creation: string = crypto.randomUUID();

  constructor(file: File, target: UploadTarget, deps: Deps) {
    this.#file = file;
    this.#target = target;
    this.#deps = deps;
    const headers = { Authorization: `Bearer ${deps.session.token}` };
    this.#ask = asking({ headers: () => Promise.resolve(headers), refused: () => undefined }, () => undefined);
  }

  /**
   * Sends the missing bytes, and returns the id of the resulting file. Retries with growing pauses if the connection is lost.
   * Throws ApiError; when `signal` aborts, its reason.
   */
  async send(signal: AbortSignal): Promise<string> {
    let failures = 0;
    const onMoved = (): void => {
      failures = 0;
      this.#deps.onWaiting(false);
    };
    for (;;) {
      try {
        return await this.#sendRest(signal, onMoved);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Refused)) throw error;
        const pause = PAUSES_MS[failures];
        if (!isPassing(error.problem.code) || pause === undefined) throw new ApiError(error.problem);
        failures += 1;
        this.#deps.onWaiting(true);
        const { retryAfter } = error.problem;
        await passed(retryAfter === undefined ? pause : retryAfter * 1_000, signal);
      }
    }
  }

  /** Deletes what the server has of it. Best effort: a remainder expires. */
  async discard(): Promise<void> {
    const url = this.#kept();
    this.#keep('');
    if (url !== '') await discard(url, this.#ask);
  }

  async #sendRest(signal: AbortSignal, onMoved: () => void): Promise<string> {
    const { folderId, onConflict } = this.#target;
    const fileId = await sendByTus(
      {
        ask: this.#ask,
        file: this.#file,
        uploads: UPLOADS,
        metadata: { filename: this.#file.name, ...(folderId === null ? {} : { folder_id: folderId }), on_conflict: onConflict },
        url: this.#kept(),
        onUrl: (url) => {
          if (url !== '') this.#creation = crypto.randomUUID();
          this.#keep(url);
        },
        onProgress: (bytes) => {
          onMoved();
          this.#deps.onProgress(bytes / this.#file.size);
        },
        creationKey: () => this.#creation,
      },
      signal,
    );
    this.#keep('');
    if (fileId === undefined) throw new ApiError({ code: 'page_failed', message: '' });
    return fileId;
  }

  #kept = (): string => this.#deps.keeper.get(this.#key()) ?? '';

  #keep(url: string): void {
    this.#deps.keeper.set(this.#key(), url);
  }

  #key(): string {
    const { name, size, lastModified } = this.#file;
    const { folderId, onConflict } = this.#target;
    return `carrel:upload:${JSON.stringify([folderId, onConflict, name, size, lastModified])}`;
  }
}

/**
 * Returns whether the next attempt may succeed: no connection, a server that is being replaced, a request of this upload that is
 * still running, too many at once.
 */
const isPassing = (code: string): boolean =>
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
