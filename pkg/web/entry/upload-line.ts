import { type Api, ApiError, type OnConflict, type Uploaded } from './api.ts';
import type { Failed } from './loaded.ts';
import type { Refusal } from './messages.ts';
import { keeperOfTab } from './session.ts';
import { TusUpload } from './tus.ts';

/** From here on nobody wants to learn at the end that the name is taken. */
const LARGE_BYTES = 1024 * 1024;

export interface Upload {
  readonly id: number;
  readonly file: File;
  /** Where it goes; null: the person's own root. */
  readonly folderId: string | null;
  /** `reconnecting`: it goes on by itself once the server answers again; `paused`: once the person says so. */
  readonly state: 'waiting' | 'sending' | 'reconnecting' | 'paused' | 'done' | 'failed';
  /** Whole percent of the bytes that are sent. */
  readonly percent: number;
  readonly onConflict: OnConflict;
  readonly refusal?: Refusal | undefined;
}

interface Deps {
  readonly api: Api;
  readonly failed: Failed;
  readonly onChange: (uploads: readonly Upload[]) => void;
  /** The last of those that wait has ended, and these were uploaded since the call before. */
  readonly onUploaded: (files: readonly Uploaded[]) => void;
}

/**
 * Uploads of several files, one after the other. What was paused or has failed steps out of the line, and to its end when it goes
 * on.
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

  /** Takes those off the list that are done. */
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

  /** What the server has of it stays there. */
  pause(id: number): void {
    this.#change(id, { state: 'paused' });
    this.#stop(id);
  }

  /** Goes on where it was. Another answer to a taken name begins anew. */
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

  /** Whether nothing more can be sent: the session is over. */
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

  /** `from`: only while it is in one of these states. */
  #change(id: number, to: Partial<Upload>, from?: readonly Upload['state'][]): void {
    this.#show(this.#uploads.map((one) => (one.id === id && (!from || from.includes(one.state)) ? { ...one, ...to } : one)));
  }

  #show(uploads: readonly Upload[]): void {
    this.#uploads = uploads;
    this.#deps.onChange(uploads);
  }
}
