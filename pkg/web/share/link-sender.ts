import { Observed } from '../api/observed.ts';
import { problemOf } from '../api/problem.ts';
import type { Problem } from '../uploads/problem.ts';
import { type Ask, Refused } from '../uploads/request.ts';
import type { Upload } from '../uploads/queue.ts';
import { isReadable, type Sender, SMALL_BYTES, type Steps, TINY_BYTES } from '../uploads/sender.ts';
import { discard, sendByTus } from '../uploads/tus.ts';
import type { Link, SharedFolder } from './link.ts';

type SentFile = SharedFolder['sent'][number];

/** What the server answers to a password that is not there, or is another one now. */
const LOCKED: readonly string[] = ['share_password_required', 'share_password_wrong', 'unauthenticated'];
/**
 * What it answers for a link that has ended, but also for an upload that it has no more, and for one that was on its way while
 * the password of the link changed.
 */
const NOT_FOUND: readonly string[] = ['not_found', 'status_404'];

/** Files that are shown as sent: as many as the server lists of a session. */
const SHOWN = 100;

/** Sends uploads into the folder of a link. A folder that was dropped is sent as its files: the link makes no folders. */
export class LinkSender implements Sender {
  /** The last files that were sent in this session, the newest first. */
  readonly sent: Observed<readonly SentFile[]>;
  /** How many files were sent in this session; undefined if there may have been more than the server lists. */
  sentCount: number | undefined;
  /** The name that the sender typed. */
  sender = '';
  /** A link knows no keys: a small file whose reply is lost with the page may have arrived. */
  readonly isRepeatable = false;
  readonly #link: Link;
  readonly #ask: Ask;
  /** Bytes of the largest file that the link took when it was last asked. */
  #maxBytes: number;
  /** Small uploads whose reply was lost: the server may have the file. */
  readonly #doubtful = new Set<number>();

  constructor(deps: { readonly link: Link; readonly ask: Ask; readonly folder: SharedFolder }) {
    this.#link = deps.link;
    this.#ask = deps.ask;
    this.#maxBytes = deps.folder.max_upload_size ?? 0;
    this.sent = new Observed<readonly SentFile[]>(deps.folder.sent);
    this.sentCount = deps.folder.sent.length < SHOWN ? deps.folder.sent.length : undefined;
  }

  async send(upload: Upload, steps: Steps): Promise<string | undefined> {
    const { path, file, size } = upload;
    if (!file) return undefined;
    const name = path.at(-1) ?? file.name;
    steps.onSending();
    try {
      if (size > SMALL_BYTES) await this.#sendLarge(file, name, steps);
      else if (!(await this.#hasArrived(upload, name))) await this.#sendSmall(file, name, steps);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { problem } = error;
      if (problem.code === 'unreachable') {
        if (!(await isReadable(file))) throw new Refused({ code: 'file_unreadable', message: '' });
        this.#doubtful.add(upload.id);
      }
      const meant = await this.#meaningOf(problem);
      if (meant.code === 'share_password_required') this.#link.isOpen.set(false);
      throw new Refused(meant);
    }
    this.#doubtful.delete(upload.id);
    if (this.sentCount !== undefined) this.sentCount += 1;
    this.sent.set([{ name, size, sent_at: new Date().toISOString() }, ...this.sent.value].slice(0, SHOWN));
    return 'sent';
  }

  discard = (url: string): Promise<void> => discard(url, this.#ask);

  /** Asks the link itself before it is said to have ended: senders believe that what was on its way is lost. */
  async #meaningOf(problem: Problem): Promise<Problem> {
    if (LOCKED.includes(problem.code)) return { ...problem, code: 'share_password_required' };
    if (!NOT_FOUND.includes(problem.code)) return problem;
    try {
      const shared = await this.#link.show();
      if (shared.name === null) return { ...problem, code: 'share_password_required' };
      const isForUploads = shared.kind === 'folder' && shared.mode !== 'download';
      // A link that takes uploads takes this one at another attempt.
      return { ...problem, code: isForUploads ? 'conflict' : 'link_ended' };
    } catch (error) {
      const { code, message, retryAfter, requestId } = problemOf(error);
      return code === 'not_found' ? { ...problem, code: 'link_ended' } : { code, message, retryAfter, requestId };
    }
  }

  async #sendSmall(file: File, name: string, { signal, onProgress }: Steps): Promise<void> {
    const form = new FormData();
    form.set('uploaded_by', this.sender);
    form.set('file', file, name);
    await this.#ask({
      method: 'POST',
      url: this.#link.addressOf('files'),
      body: form,
      signal,
      // The form has some bytes more than the file.
      onSent: file.size < TINY_BYTES ? undefined : (bytes) => onProgress(Math.min(bytes, file.size)),
    });
  }

  async #sendLarge(file: File, name: string, { signal, ...steps }: Steps): Promise<void> {
    if (steps.url === '') await this.#requireRoom(file.size);
    const metadata = { filename: name, uploaded_by: this.sender };
    await sendByTus({ ...steps, ask: this.#ask, file, uploads: this.#link.addressOf('uploads'), metadata }, signal);
  }

  /** A large file for which there is no room fails alone: the server's refusal would hold the others, which may fit. */
  async #requireRoom(size: number): Promise<void> {
    if (size <= this.#maxBytes) return;
    // There may be more room than there was when the page was opened.
    const shared = await this.#link.show().catch(() => undefined);
    if (shared?.kind === 'folder') this.#maxBytes = shared.max_upload_size ?? 0;
    if (size > this.#maxBytes) throw new Refused({ code: 'no_room_for_file', message: '' });
  }

  /** A file whose reply was lost is there if the server has one more of its name and size than this page knows of. */
  async #hasArrived({ id, size }: Upload, name: string): Promise<boolean> {
    if (!this.#doubtful.has(id)) return false;
    const shared = await this.#link.show().catch(() => undefined);
    if (shared?.kind !== 'folder') return false;
    const ofFile = (all: readonly SentFile[]): number => all.filter((one) => one.name === name && one.size === size).length;
    return ofFile(shared.sent) > ofFile(this.sent.value);
  }
}
