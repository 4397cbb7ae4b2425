import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import { residentBytes } from '../../runtime/resident-bytes.ts';
import { CORRUPT, type ListedEntry, type ListRequest, type OpenRequest, Refused } from './archive-entry.ts';
import { drained, FRAME_MAX_BYTES, type Frame, frameHead, framesOf, jsonFrame } from './frames.ts';
import { MIB } from '../../runtime/bytes.ts';

/** Reads bytes of an archive, as they come. */
export type ReadRange = (at: number, length: number) => AsyncIterable<Buffer>;

export interface ReaderLimits {
  /** Limit of the process's resident memory. */
  readonly memoryBytes: number;
  /** How long the reader may send nothing but requests to read. */
  readonly silenceMs: number;
}

export const READER_LIMITS: ReaderLimits = { memoryBytes: 192 * MIB, silenceMs: 120_000 };

const HEAP_MIB = 64;
const CHECK_EVERY_MS = 250;

const Natural = z.int().min(0);
const Read = z.object({ at: Natural, length: z.int().min(1).max(FRAME_MAX_BYTES) });
const Beginning = z.object({ hasSlash: z.boolean() });
const Reason = z.object({ reason: z.string().max(500) });
const UINT32_MAX = 2 ** 32 - 1;
const Uint32 = Natural.max(UINT32_MAX);
const Entries = z
  .array(
    z.object({
      name: z.string().max(65_535),
      flags: Natural.max(65_535),
      method: Natural.max(65_535),
      crc: Uint32,
      packed: Natural,
      size: Natural,
      offset: Natural,
      end: Natural,
      nameCrc: Uint32,
      mode: Natural.max(65_535),
    }),
  )
  .max(1_000);

const EMPTY = ['', '[]'];

/** The reader ended for an unknown reason. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

/**
 * Reads an archive in a separate process (reader.main.ts), which has no environment, no files and no store. This class sends it
 * the ranges that it requests.
 *
 * Invariants:
 * - Everything that the process sends is checked: the form of each message, ranges, and the length and CRC-32 of contents. An
 *   archive that takes over the process can therefore do no worse than misrepresent itself.
 * - The process is killed if it takes too much memory or time, and the archive is refused. It is also killed when the signal is
 *   aborted.
 */
export class ArchiveReader {
  readonly #child: ChildProcess;
  readonly #frames: AsyncGenerator<Frame, undefined>;
  readonly #size: number;
  readonly #read: ReadRange;
  readonly #clock: Clock;
  readonly #limits: ReaderLimits;
  readonly #signal: AbortSignal;
  readonly #watch: NodeJS.Timeout;
  #heardAt: number;
  #refused: Refused | undefined;
  /** Why a read failed: then the process waits for bytes that do not come. */
  #unread: { readonly error: unknown } | undefined;

  /** `program`, `limits`: others than the product has (tests). */
  constructor(of: { size: number; read: ReadRange; clock: Clock; signal: AbortSignal; limits?: ReaderLimits; program?: string }) {
    const { program = PROGRAM } = of;
    this.#size = of.size;
    this.#read = of.read;
    this.#clock = of.clock;
    this.#signal = of.signal;
    this.#limits = of.limits ?? READER_LIMITS;
    this.#heardAt = of.clock.monotonic();
    this.#child = spawn(process.execPath, [...flagsOf(program), program], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child.on('error', () => {}); // what waits for it finds that it has gone
    this.#child.stdin?.on('error', () => {});
    this.#frames = framesOf(this.#child.stdout as AsyncIterable<Buffer>);
    of.signal.addEventListener('abort', this.#kill, { once: true });
    this.#watch = setInterval(() => this.#check(), CHECK_EVERY_MS);
    this.#watch.unref();
  }

  close(): void {
    clearInterval(this.#watch);
    this.#signal.removeEventListener('abort', this.#kill);
    this.#kill();
  }

  /** Yields the entries of the archive in its order, each with how its names are separated. Throws Refused. */
  async *entries(
    request: Omit<ListRequest, 'size'>,
  ): AsyncGenerator<{ readonly entry: ListedEntry; readonly hasSlash: boolean }> {
    this.#send(jsonFrame('L', { size: this.#size, ...request } satisfies ListRequest));
    const { hasSlash } = parsed(Beginning, await this.#next('B'));
    for (let count = 0; ;) {
      const said = await this.#next('E', 'Z');
      if (said.type === 'Z') return;
      for (const entry of parsed(Entries, said)) {
        if ((count += 1) > request.most) throw new Refused(`has more than ${request.most} entries`);
        yield { entry, hasSlash };
      }
    }
  }

  /** Asks for the contents of entries, which `content` then gives in the same order. */
  request(entries: readonly ListedEntry[]): void {
    for (const entry of entries) this.#send(jsonFrame('O', { archive: this.#size, entry } satisfies OpenRequest));
  }

  /** Yields the next content, with the length and the CRC-32 that its entry declares. Throws Refused if they differ. */
  async *content(entry: ListedEntry): AsyncGenerator<Buffer> {
    let [bytes, crc] = [0, 0];
    for (;;) {
      const { type, payload } = await this.#next('C', 'Z');
      if (type === 'Z') break;
      bytes += payload.length;
      if (bytes > entry.size) throw new Refused('has an entry with more bytes than it declares');
      crc = crc32(payload, crc);
      yield payload;
    }
    if (bytes < entry.size) throw new Refused('has an entry with fewer bytes than it declares');
    if (crc !== entry.crc) throw new Refused('has an entry whose CRC-32 is wrong');
  }

  /** Returns the next message of one of these types, and answers requests to read before it. */
  async #next(...types: readonly string[]): Promise<Frame> {
    for (;;) {
      const said = await this.#heard();
      if (said.type === 'R') await this.#answer(parsed(Read, said));
      else if (said.type === 'X') throw new Refused(parsed(Reason, said).reason);
      else if (types.includes(said.type)) {
        // An empty content or list is no progress: a reader that sends nothing else counts as silent.
        if (!EMPTY.includes(said.payload.toString('latin1', 0, 3))) this.#heardAt = this.#clock.monotonic();
        return said;
      } else throw new Refused(CORRUPT);
    }
  }

  async #heard(): Promise<Frame> {
    const { value } = await this.#frames.next().catch((error: unknown) => {
      throw error instanceof RangeError ? new Refused(CORRUPT) : error;
    });
    if (value !== undefined) return value;
    this.#signal.throwIfAborted();
    if (this.#unread) throw this.#unread.error;
    throw this.#refused ?? new ReaderGone('the reader of an archive has gone');
  }

  /** Passes bytes on as they come: copies would take most of the worker's memory. */
  async #answer({ at, length }: z.output<typeof Read>): Promise<void> {
    if (at + length > this.#size) throw new Refused(CORRUPT);
    const { stdin } = this.#child;
    this.#send(frameHead('D', length));
    let bytes = 0;
    try {
      for await (const chunk of this.#read(at, length)) {
        bytes += chunk.length;
        if (stdin === null || stdin.destroyed) return; // what waits for it finds that it has gone
        // A process that was killed does not take the rest; why it was killed is said where its messages are read.
        if (!stdin.write(chunk)) await drained(stdin).catch(() => undefined);
      }
      if (bytes !== length) throw new Error(`the store gave ${bytes} bytes of ${length}`);
    } catch (error) {
      // A caller that requests the next content before this error has reached it gets the error too.
      this.#unread ??= { error };
      this.#kill();
      throw error;
    }
  }

  #send(bytes: Buffer): void {
    this.#child.stdin?.write(bytes);
  }

  readonly #kill = (): void => void this.#child.kill('SIGKILL');

  #check(): void {
    const { memoryBytes, silenceMs } = this.#limits;
    if (this.#clock.monotonic() - this.#heardAt > silenceMs) this.#refuse('takes too long to read');
    if (residentBytes(this.#child.pid) > memoryBytes) this.#refuse('takes too much memory to read');
  }

  #refuse(reason: string): void {
    this.#refused ??= new Refused(reason);
    this.#kill();
  }
}

/** Throws Refused for a message of a form that our reader never sends: the archive has taken it over. */
function parsed<T>(schema: z.ZodType<T>, { payload }: Frame): T {
  try {
    return schema.parse(JSON.parse(payload.toString()));
  } catch {
    throw new Refused(CORRUPT);
  }
}

const FOLDER = import.meta.dirname;
const ROOT = dirname(dirname(dirname(FOLDER)));
const PROGRAM = join(FOLDER, import.meta.filename.endsWith('.ts') ? 'reader.main.ts' : 'reader.main.js');
/** The reader may read its own sources, write nothing and start nothing. */
const flagsOf = (program: string): string[] => [
  `--max-old-space-size=${HEAP_MIB}`,
  '--max-semi-space-size=2',
  '--permission',
  ...[join(ROOT, 'package.json'), dirname(program), ...['yauzl', 'pend'].map((name) => join(ROOT, 'node_modules', name))].map(
    (path) => `--allow-fs-read=${path}`,
  ),
];
