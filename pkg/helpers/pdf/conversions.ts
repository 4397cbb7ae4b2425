import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { Logger } from '../../runtime/log.ts';
import { Refusal, type RefusalCode, REFUSALS } from '../refusal.ts';
import { type Answer, LimitExceeded, runScript, TimeExceeded } from '../script.ts';
import type { Slots } from '../slots.ts';
import { type FormRules, receivePdf } from './form.ts';
import { HOUR_MS } from '../../runtime/time.ts';

export interface PdfLimits {
  readonly maxBytes: number;
  readonly maxPages: number;
  /** Memory limit of one conversion. */
  readonly memoryBytes: number;
}

/** One conversion: its folder, and the time by which it must have ended. */
export interface Job {
  readonly folder: string;
  readonly input: string;
  readonly fields: ReadonlyMap<string, string>;
  readonly until: number;
  /** It waited for a slot, or arrived, for so long that it has much less than the usual time. */
  readonly isLate: boolean;
  readonly signal: AbortSignal;
}

const FOLDERS = 'carrel-helpers-';
/** Age at which folders left by a killed process may be removed: no conversion takes this long. */
const ABANDONED_MS = HOUR_MS;
const SEND_MS = 600_000;
/** Part of a request's time that is reserved for the steps after the conversion. */
const MARGIN_MS = 2_000;
/**
 * A share of a request's time. If a conversion begins later than this, a time-out does not mean that the PDF is too complex; with
 * less than this left, it does not begin.
 */
const LATE_SHARE = 0.2;
const RETRY_SECONDS = 10;

const Reply = z.union([
  z.object({ result: z.unknown() }),
  z.object({ refused: z.object({ code: z.string(), message: z.string().max(2_000) }) }),
  z.object({ failed: z.string() }),
]);
const isCode = (code: string): code is RefusalCode => Object.hasOwn(REFUSALS, code);

/** Conversions of PDFs: each has its own slot, folder, limits and processes. */
export class PdfConversions {
  readonly limits: PdfLimits;
  readonly #slots: Slots;
  readonly #log: Logger;
  readonly #timeoutMs: number;

  constructor(deps: { limits: PdfLimits; slots: Slots; timeoutMs: number; log: Logger }) {
    this.limits = deps.limits;
    this.#slots = deps.slots;
    this.#timeoutMs = deps.timeoutMs;
    this.#log = deps.log;
  }

  /** Receives the form, converts its file, and sends the PDF at the path that `convert` returns. */
  async answer(
    {
      request,
      response,
      signal,
      whose,
    }: { request: IncomingMessage; response: ServerResponse; signal: AbortSignal; whose: string },
    fields: FormRules['fields'],
    convert: (job: Job) => Promise<string>,
  ): Promise<{ received: number; sent: number }> {
    const arrived = Date.now();
    const until = arrived + this.#timeoutMs - MARGIN_MS;
    const folder = await mkdtemp(join(tmpdir(), FOLDERS));
    try {
      const input = join(folder, 'input.pdf');
      const output = await this.#slots.run(whose, signal, async () => {
        const received = await receivePdf(request, input, { fields, maxBytes: this.limits.maxBytes }, signal);
        const isLate = Date.now() - arrived > LATE_SHARE * this.#timeoutMs;
        if (isLate && until - Date.now() < LATE_SHARE * this.#timeoutMs) throw late();
        return convert({ folder, input, until, isLate, signal, fields: received });
      });
      const [received, sent] = [await sizeOf(input), await sizeOf(output)];
      response.writeHead(200, { 'content-type': 'application/pdf', 'content-length': sent, 'cache-control': 'no-store' });
      await pipeline(createReadStream(output), response, { signal: AbortSignal.timeout(SEND_MS) });
      return { received, sent };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /**
   * Runs one of our scripts (`conversion-process.ts`) from `input` to `output` within the limits. Throws its Refusal,
   * `pdf_too_complex`, `busy` if other requests used up the time, or `pdf_damaged` if it failed for an unknown reason.
   */
  async run(
    script: URL,
    { folder, signal, until, isLate }: Job,
    { input, output, options, answer }: { input: string; output: string; options: unknown; answer?: Answer },
  ): Promise<unknown> {
    const limits = { ms: Math.max(1_000, until - Date.now()), memoryBytes: this.limits.memoryBytes, outputBytes: 64 << 20 };
    try {
      const last = await runScript(script, [input, output, JSON.stringify(options)], {
        folder,
        limits,
        signal,
        ...(answer && { answer }),
      });
      const reply = Reply.parse(JSON.parse(last));
      if ('result' in reply) return reply.result;
      if ('refused' in reply && isCode(reply.refused.code)) throw new Refusal(reply.refused.code, reply.refused.message);
      throw new Error('failed' in reply ? reply.failed : 'an unknown refusal');
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Refusal) throw error;
      if (error instanceof TimeExceeded && isLate) throw late();
      if (error instanceof LimitExceeded) throw new Refusal('pdf_too_complex', `The PDF is too complex: ${error.message}.`);
      this.#log.warn({ err: error }, 'conversion of a PDF failed');
      throw new Refusal('pdf_damaged', 'The PDF cannot be converted. Print or export it again.');
    }
  }
}

const late = (): Refusal =>
  new Refusal('busy', 'The PDF waited for others or arrived slowly, so too little time was left for it.', RETRY_SECONDS);

export const sizeOf = async (path: string): Promise<number> => (await stat(path)).size;

/** Removes the folders that a killed process left. Throws if the folder for temporary files does not exist. */
export async function removeAbandonedFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(FOLDERS)) continue;
    const path = join(tmpdir(), name);
    const changed = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity,
    );
    if (Date.now() - changed > ABANDONED_MS) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}
