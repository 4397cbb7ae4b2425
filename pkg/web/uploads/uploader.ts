import type { KeptUpload, KeptUploads } from './kept.ts';
import { matchesOf } from './matching.ts';
import { allowed, mayRead, readable } from './permission.ts';
import { type OnTaken, Queue, type Task, type Upload } from './queue.ts';
import { type UploadRecord, Records, restored } from './records.ts';
import { Refused } from './request.ts';
import { type Sender, SMALL_BYTES } from './sender.ts';
import type { Batch, FoundFile } from './walk.ts';

/** What was found so far of a drop, and what of it is not uploaded. */
export interface Search {
  /** Whether folders are still being read. */
  readonly isRunning: boolean;
  readonly files: number;
  readonly leftOut: number;
  readonly unreadable: readonly string[];
}

/** The effect that a reload had on the list, or would have. */
export interface Reload {
  /** Uploads of a former page that are about to appear in the list. */
  readonly restoring: number;
  /** Uploads of a former page that went on. */
  readonly continued: number;
  /** Paths of files that were changed meanwhile, and are uploaded from their beginning. */
  readonly changed: readonly string[];
  /** False: the browser cannot keep all that is unfinished. */
  readonly isKept: boolean;
}

interface Deps {
  readonly sender: Sender;
  readonly kept: Pick<KeptUploads, 'put' | 'delete' | 'interrupted'>;
  /** ms since 1970 */
  readonly now: () => number;
}

const NO_SEARCH: Search = { isRunning: false, files: 0, leftOut: 0, unreadable: [] };
/** Time between two calls of the listeners. */
const NOTICE_MS = 200;

/** Runs the uploads of the list: starts what may start, stops what is paused, and keeps what a reload would lose. */
export class Uploader {
  readonly queue: Queue;
  readonly #deps: Deps;
  readonly #records: Records;
  readonly #done = new Map<string | null, number>();
  readonly #listeners = new Set<() => void>();
  #search = NO_SEARCH;
  #reload: Reload = { restoring: 0, continued: 0, changed: [], isKept: true };
  /** How to stop each walk that is running. */
  readonly #walks = new Set<AbortController>();
  #restoring: readonly KeptUpload[] = [];
  #hasLeft = false;
  #isPumping = false;
  #isNoticed = false;
  #noticedAt = 0;
  #wake: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.queue = new Queue({
      now: deps.now,
      onChange: (id) => {
        if (id !== undefined) this.#records.keepChanged(id);
        this.#changed();
      },
    });
    const keepsSmall = deps.sender.isRepeatable;
    this.#records = new Records({ kept: deps.kept, keepsSmall, uploadOf: this.queue.get, now: deps.now });
  }

  get search(): Search {
    return this.#search;
  }

  get reload(): Reload {
    return this.#reload;
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
    if (!this.#search.isRunning) {
      this.#search = NO_SEARCH;
      this.#tell({ changed: [] });
    }
    this.#search = { ...this.#search, isRunning: true };
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
    const kept = await this.#deps.kept.interrupted();
    if (this.#hasLeft || kept.length === 0) return;
    this.#restoring = kept;
    this.#tell({ restoring: kept.length });
    const may = new Set<KeptUpload>(await readable(kept.filter(hasHandle)));
    // The person has closed the list, or signed out, meanwhile.
    if (this.#restoring !== kept) return;
    this.#restoring = [];
    const tasks = kept.map((upload) => restored(upload, { mayRead: may.has(upload) }));
    for (const [index, id] of this.queue.add(tasks).entries()) {
      const upload = kept[index];
      if (upload) this.#records.restore(id, upload);
    }
    this.#tell({ restoring: 0, continued: tasks.filter(({ state }) => state === 'waiting').length });
  }

  /** Keeps everything again, after a time in which nothing was kept. */
  keepAgain(): void {
    this.#records.keepAgain();
  }

  /** The browser cannot keep uploads: the person learns what a reload ends. */
  cannotKeep(): void {
    this.#tell({ isKept: false });
  }

  /** Asks the person for permission to read the files of interrupted uploads again. Call it in the event of a click. */
  async allowReading(): Promise<void> {
    const interrupted = this.queue.in('interrupted').flatMap((id) => {
      const handle = this.#records.get(id)?.handle;
      return handle ? [{ id, handle }] : [];
    });
    for await (const some of allowed(interrupted)) for (const { id } of some) this.#goOn(id);
  }

  /** Continues interrupted uploads with files that were chosen again. Returns the files that are none of them. */
  chosenAgain(found: readonly FoundFile[]): FoundFile[] {
    return this.#continue(found);
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
    for (const { key } of this.#restoring) this.#deps.kept.delete(key);
    this.#restoring = [];
    this.#search = NO_SEARCH;
    this.#tell({ restoring: 0, changed: [] });
  }

  /** Stops everything, for good. What is kept continues when the same person comes back. */
  leave(): void {
    this.#hasLeft = true;
    this.#stopWalks('the person signed out');
    for (const id of this.queue.ids) this.#stop(id);
    this.#restoring = [];
    this.#records.clear();
    this.queue.clear(true);
    // What is still being read arrives later, and must not be sent as somebody else.
    this.queue.hold = { reason: 'signed-out' };
  }

  #addBatch(folderId: string | null, { files, emptyFolders, leftOut, unreadable }: Batch): void {
    // A file that is added again where its upload was interrupted continues that upload.
    const fresh = this.#continue(files, { folderId });
    const folders: Task[] = emptyFolders.map((path) => ({ folderId, path, file: undefined, size: 0 }));
    const tasks: Task[] = fresh.map(({ path, file }) => ({ folderId, path, file, size: file.size }));
    for (const [index, id] of this.queue.add([...tasks, ...folders]).entries()) this.#records.add(id, fresh[index]);
    this.#search = {
      ...this.#search,
      files: this.#search.files + files.length,
      leftOut: this.#search.leftOut + leftOut.length,
      unreadable: [...this.#search.unreadable, ...unreadable.map((path) => path.join('/'))],
    };
    this.#changed();
  }

  /** Continues interrupted uploads, with `target` those into a folder alone. Returns the files that belong to none. */
  #continue(found: readonly FoundFile[], target?: { readonly folderId: string | null }): FoundFile[] {
    if (this.queue.summary().count.interrupted === 0) return [...found];
    const candidates = this.queue.in('interrupted').flatMap((id) => {
      const [upload, record] = [this.queue.get(id), this.#records.get(id)];
      return upload && record ? [{ ...upload, lastModified: record.lastModified }] : [];
    });
    const matches = matchesOf(found, candidates, target);
    for (const [file, { id, isSame }] of matches) {
      this.#setFile(id, file.file, isSame);
      this.#goOn(id);
      void this.#records.addHandle(id, file);
    }
    return found.filter((file) => !matches.has(file));
  }

  #goOn(id: number): void {
    this.queue.resume(id);
    this.#tell({ continued: this.#reload.continued + 1 });
  }

  #setFile(id: number, file: File, isSame: boolean): void {
    const record = this.#records.get(id);
    if (!record) return;
    this.queue.setFile(id, file, !isSame);
    if (isSame) return;
    record.lastModified = file.lastModified;
    this.#discard(id);
    this.#tell({ changed: [...this.#reload.changed, this.queue.get(id)?.path.join('/') ?? ''] });
  }

  /** Reads the file of an upload that a reload interrupted. Returns false, and the upload waits, if only the person can help. */
  async #readAgain({ id, size }: Upload, record: UploadRecord, signal: AbortSignal): Promise<boolean> {
    const { handle } = record;
    const isAllowed = handle !== undefined && (await mayRead(handle));
    const file = isAllowed ? await handle.getFile().catch(() => undefined) : undefined;
    if (signal.aborted) return false;
    if (file) {
      this.#setFile(id, file, file.size === size && file.lastModified === record.lastModified);
      return true;
    }
    // A file that was moved or deleted can be chosen where it is now.
    if (isAllowed) record.handle = undefined;
    this.queue.interrupt(id, record.handle !== undefined);
    return false;
  }

  async #run(upload: Upload): Promise<void> {
    const { id, folderId } = upload;
    const record = this.#records.get(id);
    if (!record) return this.queue.cancel(id);
    if (upload.size <= SMALL_BYTES && this.#records.isKeyForgotten(id)) {
      // The file may be there since the first request: "Keep both" would make a second one.
      this.queue.askAgain(id);
      this.#records.renew(id);
    }
    const stop = new AbortController();
    record.stop = stop;
    const isCurrent = (): boolean => !stop.signal.aborted;
    try {
      if (!upload.file && !record.isFolder && !(await this.#readAgain(upload, record, stop.signal))) return;
      const fileId = await this.#deps.sender.send(this.queue.get(id) ?? upload, {
        signal: stop.signal,
        url: record.url,
        key: () => `${this.#records.useKey(id)}-${upload.onTaken}`,
        onSending: () => isCurrent() && this.queue.sending(id),
        onProgress: (bytes) => isCurrent() && this.queue.progress(id, bytes),
        onUrl: (url) => {
          if (url === '') this.#records.renew(id);
          record.url = url;
          this.#records.keep(id);
        },
      });
      if (!isCurrent()) return;
      this.queue.done(id, fileId);
      this.#release(id, { isDone: true });
      this.#done.set(folderId, this.doneIn(folderId) + 1);
    } catch (error) {
      if (!isCurrent()) return;
      const problem = error instanceof Refused ? error.problem : { code: 'page_failed', message: String(error) };
      if (problem.code === 'idempotency_key_reused') this.#records.renew(id);
      this.queue.failed(id, problem);
    }
  }

  #stopWalks(why: string): void {
    for (const walk of this.#walks) walk.abort(new DOMException(why, 'AbortError'));
  }

  #stop(id: number): void {
    this.#records.get(id)?.stop?.abort(new DOMException('the person stopped it', 'AbortError'));
  }

  #release(id: number, { isDone = false } = {}): void {
    if (!isDone) {
      this.#stop(id);
      this.#discard(id);
    }
    this.#records.delete(id);
  }

  /** Deletes what the server has of an upload, which then starts at its beginning. */
  #discard(id: number): void {
    const url = this.#records.renew(id);
    if (url !== '') void this.#deps.sender.discard(url);
  }

  #tell(news: Partial<Reload>): void {
    this.#reload = { ...this.#reload, ...news };
    this.#changed();
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

const hasHandle = (upload: KeptUpload): upload is KeptUpload & { readonly handle: FileSystemFileHandle } =>
  upload.handle !== undefined;
