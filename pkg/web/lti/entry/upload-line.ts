import { type Api, ApiError, type OnConflict, type Uploaded } from './api.ts';
import type { Failed } from './loaded.ts';
import type { Refusal } from './messages.ts';
import { keeperOfTab } from './session.ts';
import { TusUpload } from './tus-upload.ts';

/** From this size on, the name is checked before the upload, not only at its end. */
const LARGE_BYTES = 1024 * 1024;

export interface Upload {
  readonly id: number;
  readonly file: File;
  /** The target folder; null: the person's own root. */
  readonly folderId: string | null;
  /** `reconnecting`: continues once the server answers again; `paused`: continues when the person resumes it. */
  readonly state: 'waiting' | 'sending' | 'reconnecting' | 'paused' | 'done' | 'failed';
  /** Whole percent of the sent bytes. */
  readonly percent: number;
  readonly onConflict: OnConflict;
  readonly refusal?: Refusal | undefined;
}

interface Deps {
  readonly api: Api;
  readonly failed: Failed;
  readonly onChange: (uploads: readonly Upload[]) => void;
  /** Called when the last waiting upload has ended, with the files uploaded since the previous call. */
  readonly onUploaded: (files: readonly Uploaded[]) => void;
}

/**
 * Uploads several files, one after the other. A paused or failed upload leaves the queue, and joins its end when it is resumed.
 */
export class UploadLine {
  readonly #deps: Deps;
  #uploads: readonly Upload[] = [];
  #nextId = 0;
  #current: { readonly id: number; readonly stop: AbortController } | undefined;
  readonly #news: Uploaded[] = [];

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Adds files, and removes completed uploads from the list. */
  add(files: readonly File[], folderId: string | null): void {
    const added = files.map((file): Upload => ({
      id: this.#nextId++,
      file,
      folderId,
      state: 'waiting',
      percent: 0,
      onConflict: 'fail',
    }));
    this.#show([...this.#uploads.filter(({ state }) => state !== 'done'), ...added]);
    void this.#run();
  }

  /** The server keeps the received bytes. */
  pause(id: number): void {
    this.#change(id, { state: 'paused' });
    this.#stop(id);
  }

  /** Resumes an upload where it was. Another answer to a taken name starts again from the beginning. */
  resume(id: number, onConflict?: OnConflict): void {
    const upload = this.#uploads.find((one) => one.id === id);
    if (!upload) return;
    if (onConflict !== undefined) void this.#tus(upload).discard();
    this.#change(id, { state: 'waiting', refusal: undefined, ...(onConflict === undefined ? {} : { onConflict, percent: 0 }) });
    void this.#run();
  }

  cancel(id: number): void {
    const upload = this.#uploads.find((one) => one.id === id);
    this.#show(this.#uploads.filter((one) => one.id !== id));
    this.#stop(id);
    if (upload) void this.#tus(upload).discard();
  }

  #stop(id: number): void {
    if (this.#current?.id === id) this.#current.stop.abort(new DOMException('the person stopped it', 'AbortError'));
  }

  async #run(): Promise<void> {
    if (this.#current) return;
    const next = this.#uploads.find(({ state }) => state === 'waiting');
    if (!next) {
      if (this.#news.length > 0) this.#deps.onUploaded(this.#news.splice(0));
      return;
    }
    const stop = new AbortController();
    this.#current = { id: next.id, stop };
    const isOver = await this.#send(next, stop.signal);
    this.#current = undefined;
    if (!isOver) await this.#run();
  }

  /** Returns true if nothing more can be sent because the session has ended. */
  async #send(upload: Upload, signal: AbortSignal): Promise<boolean> {
    const { id } = upload;
    this.#change(id, { state: 'sending' });
    try {
      await this.#requireFreeName(upload);
      const fileId = await this.#tus(upload).send(signal);
      this.#news.push(await this.#deps.api.file(fileId));
      this.#change(id, { state: 'done', percent: 100 });
    } catch (error) {
      if (signal.aborted) return false;
      const refusal = this.#deps.failed(error);
      this.#change(id, { state: 'failed', refusal });
      return refusal.code === 'unauthenticated';
    }
    return false;
  }

  async #requireFreeName({ file, folderId, onConflict }: Upload): Promise<void> {
    if (onConflict !== 'fail' || folderId === null || file.size < LARGE_BYTES) return;
    if (await this.#deps.api.hasFile(folderId, file.name)) throw new ApiError({ code: 'name_conflict', message: '' });
  }

  #tus({ id, file, folderId, onConflict }: Upload): TusUpload {
    return new TusUpload(
      file,
      { folderId, onConflict },
      {
        session: this.#deps.api.session,
        keeper: keeperOfTab(),
        onProgress: (part) => this.#change(id, { percent: Math.floor(part * 100) }),
        onWaiting: (isWaiting) =>
          this.#change(id, { state: isWaiting ? 'reconnecting' : 'sending' }, ['sending', 'reconnecting']),
      },
    );
  }

  /** `from`: changes the upload only if it is in one of these states. */
  #change(id: number, to: Partial<Upload>, from?: readonly Upload['state'][]): void {
    this.#show(this.#uploads.map((one) => (one.id === id && (!from || from.includes(one.state)) ? { ...one, ...to } : one)));
  }

  #show(uploads: readonly Upload[]): void {
    this.#uploads = uploads;
    this.#deps.onChange(uploads);
  }
}
