import { newId } from '../api/new-id.ts';
import type { KeptUploads } from './kept.ts';
import { type OnTaken, Queue, type Task, type Upload } from './queue.ts';
import { Refused } from './request.ts';
import { type Sender, SMALL_BYTES } from './sender.ts';
import type { Batch } from './walk.ts';

/** What was found so far of a drop, and what of it is not uploaded. */
export interface Search {
  /** Whether folders are still being read. */
  readonly isRunning: boolean;
  readonly files: number;
  readonly leftOut: number;
  readonly unreadable: readonly string[];
}

interface Deps {
  readonly sender: Sender;
  readonly kept: Pick<KeptUploads, 'put' | 'delete' | 'interrupted'>;
  /** ms since 1970 */
  readonly now: () => number;
}

/** What an upload has beside its place in the list. */
interface Running {
  readonly key: string;
  url: string;
  stop: AbortController | undefined;
  /** Reads the file of an interrupted upload again. */
  handle: FileSystemFileHandle | undefined;
  lastModified: number;
}

const NO_SEARCH: Search = { isRunning: false, files: 0, leftOut: 0, unreadable: [] };
/** Time between two calls of the listeners. */
const NOTICE_MS = 200;

/** Runs the uploads of the list: starts what may start, stops what is paused, and keeps what a reload would lose. */
export class Uploader {
  readonly queue: Queue;
  readonly #deps: Deps;
  readonly #running = new Map<number, Running>();
  readonly #done = new Map<string | null, number>();
  readonly #listeners = new Set<() => void>();
  #search = NO_SEARCH;
  /** How to stop each walk that is running. */
  readonly #walks = new Set<AbortController>();
  #isPumping = false;
  #isNoticed = false;
  #noticedAt = 0;
  #wake: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.queue = new Queue({ now: deps.now, onChange: () => this.#changed() });
  }

  get search(): Search {
    return this.#search;
  }

  /** Calls the listener soon after changes, at most five times a second. Returns how to end that. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns how many uploads have arrived in a folder or below it. */
  doneIn = (folderId: string | null): number => this.#done.get(folderId) ?? 0;

  /** Adds what a walk finds, as it finds it. A walk that is running goes on beside it. */
  async add(
    folderId: string | null,
    batches: AsyncIterable<Batch> | Iterable<Batch>,
    stop = new AbortController(),
  ): Promise<void> {
    const before = this.#search.isRunning ? this.#search : NO_SEARCH;
    this.#search = { ...before, isRunning: true };
    this.#walks.add(stop);
    try {
      for await (const batch of batches) {
        if (stop.signal.aborted) break;
        this.#addBatch(folderId, batch);
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      this.#walks.delete(stop);
      if (this.#walks.size === 0) this.#search = { ...this.#search, isRunning: false };
      this.#changed();
    }
  }

  /** Lists what a reload interrupted, and continues what can be read without asking the person. */
  async restore(): Promise<void> {
    for (const kept of await this.#deps.kept.interrupted()) {
      const [id = 0] = this.queue.add([{ ...kept, file: undefined, handle: undefined }], 'interrupted');
      if (kept.onTaken !== 'ask') this.queue.decide(id, kept.onTaken);
      this.#running.set(id, { ...kept, stop: undefined, handle: kept.handle });
      if (kept.handle && (await permissionOf(kept.handle, 'query')) === 'granted') await this.#readAgain(id);
    }
  }

  /** Whether the browser can read an interrupted upload's file again after the person has agreed. */
  canReadAgain = (id: number): boolean => this.#running.get(id)?.handle !== undefined;

  /** Asks the person for permission to read the files of interrupted uploads again. Call it in the event of a click. */
  async allowReading(): Promise<void> {
    for (const id of this.queue.in('interrupted')) {
      const handle = this.#running.get(id)?.handle;
      if (handle && (await permissionOf(handle, 'request')) === 'granted') await this.#readAgain(id);
    }
  }

  /** Continues interrupted uploads with files that were chosen again. Returns the files that are none of them. */
  chosenAgain(files: readonly File[]): File[] {
    const interrupted = this.queue.in('interrupted');
    return files.filter((file) => {
      const id = interrupted.find((one) => this.#isFileOf(one, file) && this.queue.get(one)?.state === 'interrupted');
      if (id !== undefined) this.queue.resume(id, file);
      return id === undefined;
    });
  }

  pause(id: number): void {
    this.queue.pause(id);
    this.#stop(id);
  }

  pauseAll(): void {
    // Those that wait first: otherwise they would start while the others are paused.
    for (const id of [...this.queue.in('waiting'), ...this.queue.in('preparing', 'sending')]) this.pause(id);
  }

  resumeAll(): void {
    for (const id of this.queue.in('paused')) this.queue.resume(id);
  }

  retryAll(): void {
    for (const id of this.queue.in('failed')) this.queue.resume(id);
  }

  /** Answers for one upload whose name is taken, or for all of the list. */
  answer(onTaken: Exclude<OnTaken, 'ask'>, id?: number): void {
    for (const one of id === undefined ? this.queue.in('conflict') : [id]) this.#discard(one);
    if (id === undefined) this.queue.answer(onTaken);
    else this.queue.answerOne(id, onTaken);
  }

  cancel(id: number): void {
    this.queue.cancel(id);
    this.#release(id);
  }

  /** Cancels what has not ended, and empties the list. */
  close(): void {
    this.#stopWalks('the person cancelled it');
    const ids = this.queue.ids;
    this.queue.clear(true);
    for (const id of ids) this.#release(id);
    this.#search = NO_SEARCH;
  }

  /** Stops everything, for good. What is kept continues when the same person comes back. */
  leave(): void {
    this.#stopWalks('the person signed out');
    for (const id of this.queue.ids) this.#stop(id);
    this.#running.clear();
    this.queue.clear(true);
    // What is still being read arrives later, and must not be sent as somebody else.
    this.queue.hold = { reason: 'signed-out' };
  }

  #addBatch(folderId: string | null, { files, emptyFolders, leftOut, unreadable }: Batch): void {
    const fresh = files.filter(({ file, path }) => !this.#continues(folderId, path, file));
    const folders: Task[] = emptyFolders.map((path) => ({ folderId, path, file: undefined, size: 0 }));
    const ids = this.queue.add([...fresh.map((found) => ({ ...found, folderId, size: found.file.size })), ...folders]);
    for (const [index, { file, path, handle }] of fresh.entries()) {
      if (file.size <= SMALL_BYTES) continue;
      const id = ids[index] ?? 0;
      this.#running.set(id, {
        key: newId(),
        url: '',
        stop: undefined,
        handle: undefined,
        lastModified: file.lastModified,
      });
      void this.#keep(id, { folderId, path, handle });
    }
    this.#search = {
      ...this.#search,
      files: this.#search.files + files.length,
      leftOut: this.#search.leftOut + leftOut.length,
      unreadable: [...this.#search.unreadable, ...unreadable.map((path) => path.join('/'))],
    };
    this.#changed();
  }

  /** A file that is added again where its upload was interrupted continues that upload. */
  #continues(folderId: string | null, path: readonly string[], file: File): boolean {
    if (this.queue.summary().count.interrupted === 0) return false;
    const id = this.queue.in('interrupted').find((one) => {
      const upload = this.queue.get(one);
      return upload?.folderId === folderId && upload.path.join('/') === path.join('/') && this.#isFileOf(one, file);
    });
    if (id !== undefined) this.queue.resume(id, file);
    return id !== undefined;
  }

  #isFileOf(id: number, { name, size, lastModified }: File): boolean {
    const upload = this.queue.get(id);
    return upload?.path.at(-1) === name && upload.size === size && this.#running.get(id)?.lastModified === lastModified;
  }

  async #readAgain(id: number): Promise<void> {
    const file = await this.#running
      .get(id)
      ?.handle?.getFile()
      .catch(() => undefined);
    // A file that has changed is another one: its bytes do not fit to those that the server has.
    if (file && this.#isFileOf(id, file)) this.queue.resume(id, file);
  }

  async #keep(id: number, task: Pick<Task, 'folderId' | 'path' | 'handle'>): Promise<void> {
    const running = this.#running.get(id);
    if (!running) return;
    running.handle = await task.handle?.().catch(() => undefined);
    await this.#save(id);
  }

  async #save(id: number): Promise<void> {
    const [running, upload] = [this.#running.get(id), this.queue.get(id)];
    if (!running || !upload || ['done', 'skipped'].includes(upload.state)) return;
    const { folderId, path, size, onTaken } = upload;
    const { key, url, handle, lastModified } = running;
    await this.#deps.kept.put({ key, url, handle, lastModified, folderId, path, size, onTaken }).catch(() => undefined);
  }

  async #run(upload: Upload): Promise<void> {
    const { id, folderId } = upload;
    const stop = new AbortController();
    const running = this.#running.get(id);
    if (running) running.stop = stop;
    else this.#running.set(id, { key: '', url: '', stop, handle: undefined, lastModified: 0 });
    const isCurrent = (): boolean => !stop.signal.aborted;
    try {
      const fileId = await this.#deps.sender.send(upload, {
        signal: stop.signal,
        url: running?.url ?? '',
        onSending: () => isCurrent() && this.queue.sending(id),
        onProgress: (bytes) => isCurrent() && this.queue.progress(id, bytes),
        onUrl: async (url) => {
          if (!running) return;
          running.url = url;
          await this.#save(id);
        },
      });
      if (!isCurrent()) return;
      this.queue.done(id, fileId);
      this.#release(id, { isDone: true });
      this.#done.set(folderId, this.doneIn(folderId) + 1);
    } catch (error) {
      if (!isCurrent()) return;
      this.queue.failed(id, error instanceof Refused ? error.problem : { code: 'page_failed', message: String(error) });
    }
  }

  #stopWalks(why: string): void {
    for (const walk of this.#walks) walk.abort(new DOMException(why, 'AbortError'));
  }

  #stop(id: number): void {
    this.#running.get(id)?.stop?.abort(new DOMException('the person stopped it', 'AbortError'));
  }

  #release(id: number, { isDone = false } = {}): void {
    if (!isDone) {
      this.#stop(id);
      this.#discard(id);
    }
    const key = this.#running.get(id)?.key;
    this.#running.delete(id);
    if (key) void this.#deps.kept.delete(key).catch(() => undefined);
  }

  /** Deletes what the server has of an upload, which then starts at its beginning. */
  #discard(id: number): void {
    const running = this.#running.get(id);
    if (!running?.url) return;
    void this.#deps.sender.discard(running.url);
    running.url = '';
    void this.#save(id);
  }

  #changed(): void {
    if (!this.#isPumping) {
      this.#isPumping = true;
      queueMicrotask(() => this.#pump());
    }
    if (this.#isNoticed) return;
    this.#isNoticed = true;
    // The first change after a rest is shown at once.
    const due = this.#noticedAt + NOTICE_MS - this.#deps.now();
    setTimeout(() => this.#notice(), Math.min(Math.max(0, due), NOTICE_MS));
  }

  #notice(): void {
    this.#isNoticed = false;
    this.#noticedAt = this.#deps.now();
    for (const listener of this.#listeners) listener();
  }

  #pump(): void {
    for (let next = this.queue.take(); next; next = this.queue.take()) void this.#run(next);
    this.#isPumping = false;
    clearTimeout(this.#wake);
    const until = this.queue.hold?.until;
    if (until !== undefined) this.#wake = setTimeout(() => this.#changed(), Math.max(0, until - this.#deps.now()) + 1);
  }
}

/** Not every browser asks for permission; one that does not ask cannot read the file again either. */
async function permissionOf(handle: FileSystemFileHandle, act: 'query' | 'request'): Promise<PermissionState | undefined> {
  const asked = handle as FileSystemFileHandle & Partial<Record<'queryPermission' | 'requestPermission', Permission>>;
  return asked[`${act}Permission`]?.({ mode: 'read' }).catch(() => undefined);
}

type Permission = (options: { readonly mode: 'read' }) => Promise<PermissionState>;
