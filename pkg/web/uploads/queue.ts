import { Meter } from './meter.ts';
import { type Problem, reactionTo } from './problem.ts';

/**
 * - `waiting`: starts when its turn comes; `preparing`: its folder is made, its name checked; `sending`.
 * - `paused`: continues when the person resumes it; `conflict`: its name is taken, the person decides.
 * - `interrupted`: the page was closed meanwhile, and can read the file only if the person helps.
 * - `done`, `skipped` (its name was taken), `failed`: ended.
 */
export type State = 'waiting' | 'preparing' | 'sending' | 'paused' | 'conflict' | 'interrupted' | 'done' | 'skipped' | 'failed';

/** What to do where a name is taken. */
export type OnTaken = 'ask' | 'replace' | 'rename' | 'skip';

/** What is uploaded where. */
export interface Task {
  /** The target folder; null: the person's own root. */
  readonly folderId: string | null;
  /** The folders below the target folder, and the name. */
  readonly path: readonly string[];
  /** Undefined for an empty folder, and for an interrupted upload whose file has not been read again. */
  readonly file: File | undefined;
  /** Bytes. */
  readonly size: number;
}

export interface Upload extends Task {
  readonly id: number;
  readonly state: State;
  /** Bytes that the server has or is receiving. */
  readonly sent: number;
  readonly onTaken: OnTaken;
  /** Failed attempts in a row. */
  readonly attempts: number;
  readonly problem?: Problem | undefined;
  /** True: the browser can read the file of an interrupted upload once the person allows it. */
  readonly canRead?: boolean | undefined;
  /** True: the file was changed since a reload interrupted its upload. */
  readonly isChanged?: boolean | undefined;
  /** The resulting file. */
  readonly fileId?: string | undefined;
}

/** An upload as it was before a reload. */
export type Restored = Task & Pick<Upload, 'state' | 'onTaken' | 'problem' | 'canRead'>;

/** Why no upload starts. `until` is the time at which it ends by itself, if it does. */
export interface Hold {
  readonly reason: 'offline' | 'signed-out' | 'busy' | 'stopped';
  readonly until?: number | undefined;
  readonly problem?: Problem | undefined;
}

export interface Summary {
  /** Number of uploads in the list. */
  readonly total: number;
  readonly count: Readonly<Record<State, number>>;
  /** Part of the work that is done, 0 to 1. */
  readonly part: number;
  readonly bytesPerSecond: number | undefined;
  readonly secondsLeft: number | undefined;
  readonly hold: Hold | undefined;
}

type Editable = { -readonly [Key in keyof Upload]: Upload[Key] };

/** A browser keeps six connections to a server; two stay free for the page. */
const AT_ONCE = 4;
/** A request costs about as much as so many bytes, so that a bar of many small files moves evenly. */
const REQUEST_BYTES = 64 * 1024;
const UNDER_WAY: readonly State[] = ['waiting', 'preparing', 'sending'];
const ENDED: readonly State[] = ['done', 'skipped', 'failed'];

/**
 * The list of uploads and what each of them is allowed to do next. It sends nothing itself and starts no timer.
 * Each event costs the same however long the list is, but for those that concern all of it.
 */
export class Queue {
  readonly #now: () => number;
  readonly #onChange: (id?: number) => void;
  readonly #uploads = new Map<number, Editable>();
  /** Ids in the order in which they start; it may name uploads that do not wait any more. */
  #order: number[] = [];
  #next = 0;
  /** Ids that were sent back; they start first. */
  readonly #again: number[] = [];
  #ids: readonly number[] | undefined;
  #nextId = 1;
  readonly #count: Record<State, number> = countOfNone();
  #work = 0;
  #worked = 0;
  #bytesLeft = 0;
  #hold: Hold | undefined;
  readonly #bytes = new Meter(10);
  readonly #files = new Meter(60);
  readonly #meters = new Map<number, Meter>();

  /** `onChange` gets the id of an upload whose state, or whose answer to a taken name, is another. */
  constructor({ now, onChange }: { readonly now: () => number; readonly onChange: (id?: number) => void }) {
    this.#now = now;
    this.#onChange = onChange;
  }

  /** Ids in the order of the list. The array is another one when the list has changed. */
  get ids(): readonly number[] {
    return (this.#ids ??= [...this.#uploads.keys()]);
  }

  get = (id: number): Upload | undefined => this.#uploads.get(id);

  /** Adds uploads at the end. A list that has ended loses first what is done. Returns their ids. */
  add(tasks: readonly (Task | Restored)[]): number[] {
    if (this.isOver) this.#remove((upload) => upload.state === 'done' || upload.state === 'skipped');
    const added = tasks.map((task) => {
      const id = this.#nextId++;
      const upload: Editable = { state: 'waiting', onTaken: 'ask', ...task, id, sent: 0, attempts: 0 };
      this.#uploads.set(id, upload);
      this.#enter(upload);
      if (upload.state === 'waiting') this.#order.push(id);
      return id;
    });
    this.#ids = undefined;
    this.#onChange();
    return added;
  }

  /** Whether nothing is under way, and nothing waits for the person. */
  get isOver(): boolean {
    return ENDED.reduce((sum, state) => sum + this.#count[state], 0) === this.#uploads.size;
  }

  /** Whether leaving the page would break something off. */
  get isUnderWay(): boolean {
    return UNDER_WAY.some((state) => this.#count[state] > 0);
  }

  /** Starts the next upload, if one may start now. */
  take(): Upload | undefined {
    if (this.#count.preparing + this.#count.sending >= AT_ONCE || this.hold) return undefined;
    const upload = this.#nextWaiting();
    if (upload) this.#change(upload, { state: 'preparing', problem: undefined });
    return upload;
  }

  /** The bytes of an upload that was taken are being sent. */
  sending(id: number): void {
    const upload = this.#uploads.get(id);
    if (upload?.state === 'preparing') this.#change(upload, { state: 'sending' });
  }

  /** `sent`: bytes since the beginning of the file. An attempt that starts again starts at 0. */
  progress(id: number, sent: number): void {
    const upload = this.#uploads.get(id);
    if (!upload || sent === upload.sent) return;
    const news = sent - upload.sent;
    // Bytes that the server had before this attempt are no speed.
    if (news > 0 && upload.state === 'sending') {
      const now = this.#now();
      this.#bytes.add(news, now);
      this.#meterOf(id).add(news, now);
    }
    this.#change(upload, { sent: Math.min(sent, upload.size) });
  }

  done(id: number, fileId: string | undefined): void {
    const upload = this.#uploads.get(id);
    if (!upload) return;
    this.#files.add(1, this.#now());
    if (this.#hold?.reason === 'offline') this.#hold = undefined;
    this.#change(upload, { state: 'done', sent: upload.size, fileId, problem: undefined, file: undefined });
  }

  /** An upload that was taken has failed. What to do depends on the problem. */
  failed(id: number, problem: Problem): void {
    const upload = this.#uploads.get(id);
    if (!upload) return;
    const reaction = reactionTo(problem, { attempts: upload.attempts, onTaken: upload.onTaken });
    if (reaction.next === 'again') {
      this.#again.push(id);
      const until = reaction.afterMs === undefined ? undefined : this.#now() + reaction.afterMs;
      if (reaction.hold) this.hold = { reason: reaction.hold, until, problem };
      return this.#change(upload, { state: 'waiting', attempts: upload.attempts + (reaction.isAttempt ? 1 : 0) });
    }
    this.#change(upload, { state: reaction.next, problem });
  }

  /** The hold in force. One whose time is over is none. */
  get hold(): Hold | undefined {
    if (this.#hold?.until !== undefined && this.#hold.until <= this.#now()) this.#hold = undefined;
    return this.#hold;
  }

  /** A hold that only a person or an event ends stays when one comes that ends by itself. */
  set hold(hold: Hold) {
    const current = this.hold;
    if (current && current.until === undefined && hold.until !== undefined) return;
    this.#hold = hold;
    this.#onChange();
  }

  release(...reasons: readonly Hold['reason'][]): void {
    if (!this.#hold || !reasons.includes(this.#hold.reason)) return;
    this.#hold = undefined;
    this.#onChange();
  }

  pause(id: number): void {
    const upload = this.#uploads.get(id);
    if (upload && UNDER_WAY.includes(upload.state)) this.#change(upload, { state: 'paused' });
  }

  /** Continues what is paused or interrupted, and tries again what has failed. */
  resume(id: number): void {
    const upload = this.#uploads.get(id);
    if (!upload || !['paused', 'failed', 'interrupted', 'skipped'].includes(upload.state)) return;
    if (upload.state === 'interrupted' && !upload.file && !upload.canRead) return;
    this.#order.push(id);
    this.#change(upload, { state: 'waiting', attempts: 0, problem: undefined });
  }

  /** An upload gets its file, which may be another one than before a reload. */
  setFile(id: number, file: File, isChanged: boolean): void {
    const upload = this.#uploads.get(id);
    if (upload) this.#change(upload, isChanged ? { file, size: file.size, sent: 0, isChanged } : { file });
  }

  /** The file of an upload that was taken cannot be read. `canRead`: it can once the person allows it. */
  interrupt(id: number, canRead: boolean): void {
    const upload = this.#uploads.get(id);
    if (upload) this.#change(upload, { state: 'interrupted', canRead, file: undefined });
  }

  /** Answers for all names that are taken, and for those of this list that will turn out to be. */
  answer(onTaken: Exclude<OnTaken, 'ask'>): void {
    for (const upload of this.#uploads.values()) {
      if (ENDED.includes(upload.state) || upload.onTaken !== 'ask') continue;
      if (upload.state === 'conflict') this.answerOne(upload.id, onTaken);
      else {
        upload.onTaken = onTaken;
        this.#onChange(upload.id);
      }
    }
    this.#onChange();
  }

  answerOne(id: number, onTaken: Exclude<OnTaken, 'ask'>): void {
    const upload = this.#uploads.get(id);
    if (upload?.state !== 'conflict') return;
    if (onTaken === 'skip') return this.#change(upload, { state: 'skipped', onTaken });
    this.#order.push(id);
    this.#change(upload, { state: 'waiting', onTaken, sent: 0, problem: undefined });
  }

  /** An answer to a taken name counts no more: the name may be taken by the file itself. */
  askAgain(id: number): void {
    const upload = this.#uploads.get(id);
    if (!upload || upload.onTaken === 'ask') return;
    upload.onTaken = 'ask';
    this.#onChange(id);
  }

  cancel(id: number): void {
    this.#remove((upload) => upload.id === id);
    this.#onChange();
  }

  /** Removes what has ended; `all`: everything. */
  clear(all = false): void {
    this.#remove(({ state }) => all || ENDED.includes(state));
    if (all) this.#hold = undefined;
    this.#onChange();
  }

  /** Returns ids of uploads in one of the states: one pass through the list. */
  in(...states: readonly State[]): number[] {
    return this.ids.filter((id) => states.includes(this.#uploads.get(id)?.state as State));
  }

  /** Bytes per second and seconds left of one upload that is being sent. */
  speedOf(id: number): { readonly bytesPerSecond: number | undefined; readonly secondsLeft: number | undefined } {
    const upload = this.#uploads.get(id);
    const bytesPerSecond = upload?.state === 'sending' ? this.#meters.get(id)?.perSecond(this.#now()) : undefined;
    if (!upload || bytesPerSecond === undefined) return { bytesPerSecond: undefined, secondsLeft: undefined };
    return { bytesPerSecond, secondsLeft: (upload.size - upload.sent) / bytesPerSecond };
  }

  summary(): Summary {
    const now = this.#now();
    const bytesPerSecond = this.#bytes.perSecond(now);
    const filesPerSecond = this.#files.perSecond(now);
    const filesLeft = UNDER_WAY.reduce((sum, state) => sum + this.#count[state], 0);
    const estimates = [
      ...(bytesPerSecond === undefined ? [] : [this.#bytesLeft / bytesPerSecond]),
      ...(filesPerSecond === undefined ? [] : [filesLeft / filesPerSecond]),
    ];
    return {
      total: this.#uploads.size,
      count: { ...this.#count },
      part: this.#work === 0 ? 1 : this.#worked / this.#work,
      bytesPerSecond,
      // Many small files take the time of their requests, few large ones that of their bytes.
      secondsLeft: filesLeft === 0 || estimates.length === 0 ? undefined : Math.max(...estimates),
      hold: this.hold,
    };
  }

  #nextWaiting(): Editable | undefined {
    for (;;) {
      const id = this.#again.pop() ?? this.#order[this.#next++];
      if (id === undefined) {
        this.#order = [];
        this.#next = 0;
        return undefined;
      }
      const upload = this.#uploads.get(id);
      if (upload?.state === 'waiting') return upload;
    }
  }

  #meterOf(id: number): Meter {
    const meter = this.#meters.get(id) ?? new Meter(10);
    this.#meters.set(id, meter);
    return meter;
  }

  #change(upload: Editable, to: Partial<Upload>): void {
    const { state } = upload;
    this.#leave(upload);
    Object.assign(upload, to);
    this.#enter(upload);
    if (upload.state !== 'sending') this.#meters.delete(upload.id);
    this.#onChange(upload.state === state ? undefined : upload.id);
  }

  #enter(upload: Editable): void {
    this.#add(upload, 1);
  }

  #leave(upload: Editable): void {
    this.#add(upload, -1);
  }

  /** Adds what an upload is to the sums, or takes it away. */
  #add({ state, size, sent }: Editable, sign: 1 | -1): void {
    this.#count[state] += sign;
    this.#work += sign * (REQUEST_BYTES + size);
    this.#worked += sign * (ENDED.includes(state) ? REQUEST_BYTES + size : sent);
    if (UNDER_WAY.includes(state)) this.#bytesLeft += sign * (size - sent);
  }

  #remove(isGone: (upload: Upload) => boolean): void {
    for (const upload of this.#uploads.values()) {
      if (!isGone(upload)) continue;
      this.#leave(upload);
      this.#uploads.delete(upload.id);
      this.#meters.delete(upload.id);
    }
    this.#ids = undefined;
  }
}

const countOfNone = (): Record<State, number> => ({
  waiting: 0,
  preparing: 0,
  sending: 0,
  paused: 0,
  conflict: 0,
  interrupted: 0,
  done: 0,
  skipped: 0,
  failed: 0,
});
