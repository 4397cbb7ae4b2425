import type { Readable } from 'node:stream';
import { createSHA256, type IHasher } from 'hash-wasm';
import { Problem } from '../../api/problem.ts';
import { TryLater } from '../../events/processor.ts';
import type { Logger } from '../../runtime/log.ts';
import { ObjectMissing, type Objects } from '../../store/s3/objects.ts';
import type { TaskSteps } from '../../tasks/task-processor.ts';
import { ContentShort, type PlannedArchive, type Section, sectionOf } from '../archives/planned-archive.ts';
import type { EntryPosition, ZipPart } from '../archives/zip-plan.ts';
import type { ExportArguments } from './export-task.ts';
import { addPart, type ExportUpload, goneAmong, leaveOut } from './export-uploads.sql.ts';
import { failGone, type GoneFile, LOST } from './gone-files.ts';
import { contentOf } from './plan-export.ts';

const OTHER_WORKER_MS = 2_000;
/** Contents that are looked up in one statement. */
const LOOKUP_BATCH = 1_000;
/** Sent at once, where chunks are smaller. */
const GATHER_BYTES = 32 * 1024;

/** The plan cannot be completed: the parts in the store contain the beginning of a content that is gone. */
export class CannotGoOn extends Error {
  override readonly name = 'CannotGoOn';
}

/** The content of an entry is gone; `isLost`: although its file is there. */
class ContentGone extends Error {
  override readonly name = 'ContentGone';
  readonly entry: EntryPosition;
  readonly isLost: boolean;

  constructor(entry: EntryPosition, { isLost }: { isLost: boolean }) {
    super('a content of an archive is gone');
    this.entry = entry;
    this.isLost = isLost;
  }
}

/** Sends the parts of one archive that are left. */
export class PartSender {
  readonly #steps: TaskSteps<ExportArguments>;
  readonly #objects: Objects;
  /**
   * Until the signal is aborted. A signal of each request would be a further one that this one remembers: 50,000 of them are
   * memory.
   */
  readonly #contents: Objects;
  readonly #log: Logger;
  readonly #archive: PlannedArchive;
  readonly #signal: AbortSignal;
  readonly #sum: IHasher;
  #upload: ExportUpload;

  private constructor(
    deps: { steps: TaskSteps<ExportArguments>; objects: Objects; log: Logger; archive: PlannedArchive; signal: AbortSignal },
    upload: ExportUpload,
    sum: IHasher,
  ) {
    this.#steps = deps.steps;
    this.#objects = deps.objects;
    this.#contents = deps.objects.until(deps.signal);
    this.#log = deps.log;
    this.#archive = deps.archive;
    this.#signal = deps.signal;
    this.#upload = upload;
    this.#sum = sum;
  }

  static async of(
    deps: { steps: TaskSteps<ExportArguments>; objects: Objects; log: Logger; archive: PlannedArchive; signal: AbortSignal },
    upload: ExportUpload,
  ): Promise<PartSender> {
    return new PartSender(deps, upload, await createSHA256());
  }

  get etags(): readonly string[] {
    return this.#upload.etags;
  }

  /** Returns the checksum of the stored content, in hexadecimal digits; call it once everything is stored. */
  checksum(): string {
    this.#resume();
    return this.#sum.digest('hex');
  }

  get #section(): Section {
    const { etags, partBytes } = this.#upload;
    const { bytes } = this.#archive.plan;
    return { start: Math.min(etags.length * partBytes, bytes), end: Math.min((etags.length + 1) * partBytes, bytes) };
  }

  /**
   * Sends the next part, or finds that a content in it is gone. Returns false if all parts are in the store. Throws CannotGoOn,
   * UploadGone, and `not_found` if the store has lost a content that is already in the archive in part.
   */
  async next(): Promise<boolean> {
    const section = this.#section;
    if (section.start === section.end) return false;
    try {
      await this.#send(section);
    } catch (error) {
      if (error instanceof ContentShort && error.part.entry !== null)
        await this.#leaveOut(this.#lost(error.part, error.part.entry), section);
      else if (error instanceof ContentGone) await this.#leaveOut(error, section);
      else throw error;
    }
    return true;
  }

  async #send(section: Section): Promise<void> {
    this.#resume();
    const { key, uploadId, etags } = this.#upload;
    const bytes = sectionOf(this.#archive, section, (part, range) => this.#open(part, range));
    const sum = this.#sum;
    const summed = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of gathered(bytes)) {
        sum.update(chunk);
        yield chunk;
      }
    };
    const size = section.end - section.start;
    const etag = await this.#objects.inParts(key, uploadId).put(etags.length + 1, summed(), size, this.#signal);
    const state = Buffer.from(sum.save());
    await this.#steps.step(async (tx) => mine(await addPart(tx, this.#upload, { etag, sum: state })));
    this.#upload = { ...this.#upload, etags: [...etags, etag], sum: state };
  }

  /** Restores the hash as it was after the parts that are in the store. */
  #resume(): void {
    const { sum } = this.#upload;
    if (sum.length === 0) this.#sum.init();
    else this.#sum.load(sum);
  }

  async #open(part: ZipPart, range?: Section): Promise<Readable> {
    const { key, entry } = part;
    const content = contentOf(key);
    try {
      const { body } = await this.#contents.get(content.key, range ? { range: { start: range.start, end: range.end - 1 } } : {});
      body.on('error', () => undefined); // whoever reads it sees it
      return body;
    } catch (error) {
      if (!(error instanceof ObjectMissing) || entry === null) throw error;
      const isGone = (await goneAmong(this.#steps.context.db, [content])).length > 0;
      throw isGone ? new ContentGone(entry, { isLost: false }) : this.#lost(part, entry);
    }
  }

  #lost({ key }: ZipPart, entry: EntryPosition): ContentGone {
    this.#log.error({ file: contentOf(key).file }, 'the object of a file is missing or of another size');
    return new ContentGone(entry, { isLost: true });
  }

  /**
   * Leaves out the entries whose content is gone, from `first` to the end of the section; their items fail. If `first` is in the
   * archive in part, throws CannotGoOn for a replaced content, which a new plan includes, and `not_found` for a lost one, which a
   * new plan would include unchanged.
   */
  async #leaveOut({ entry: first, isLost }: ContentGone, section: Section): Promise<void> {
    const isBegun = first.at < section.start;
    if (isBegun && isLost) throw new Problem(LOST.code, `${nameOf(first)}: ${LOST.message}`);
    const gone: (GoneFile & { readonly index: number })[] = [];
    let waiting: { readonly content: ReturnType<typeof contentOf>; readonly index: number; readonly name: string }[] = [];
    const lookUp = async (): Promise<void> => {
      const found = await goneAmong(
        this.#steps.context.db,
        waiting.map(({ content }) => content),
      );
      for (const { position, isReplaced } of found) {
        const { index, name, content } = waiting[position]!;
        gone.push({ index, name, uuid: content.file, why: isReplaced ? 'replaced' : 'deleted' });
      }
      waiting = [];
    };
    for await (const { entry, key } of this.#archive.plan.parts(first.at, section.end)) {
      const content = contentOf(key);
      if (entry === null || content.file === '') continue;
      const { index } = entry;
      const name = nameOf(entry);
      if (isLost && index === first.index) gone.push({ index, name, uuid: content.file, why: 'lost' });
      else waiting.push({ content, index, name });
      if (waiting.length === LOOKUP_BATCH) await lookUp();
    }
    await lookUp();
    const indices = gone.map(({ index }) => index);
    await this.#steps.step(async (tx, task) => {
      mine(await leaveOut(tx, this.#upload, indices));
      await failGone(
        tx,
        task,
        gone.filter(({ why }) => !(isBegun && why === 'replaced')),
      );
    });
    if (isBegun) throw new CannotGoOn('a file is gone of which a part is in the archive');
    await this.#archive.plan.leaveOut(indices);
  }
}

const nameOf = ({ name }: EntryPosition): string => name.toString().split('/').at(-1) ?? '';

function mine(isMine: boolean): void {
  if (!isMine) throw new TryLater('another worker goes on with this export', OTHER_WORKER_MS);
}

/**
 * Yields the same bytes, small chunks joined: an archive of small files has two chunks for each of them, and each would be a
 * write of its own.
 */
async function* gathered(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [small, bytes]: [Buffer[], number] = [[], 0];
  for await (const chunk of chunks) {
    small.push(chunk);
    if ((bytes += chunk.length) < GATHER_BYTES) continue;
    yield small.length === 1 ? chunk : Buffer.concat(small, bytes);
    [small, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(small, bytes);
}
