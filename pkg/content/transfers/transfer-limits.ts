import type { Traffic } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LONGEST_UPLOAD_MS } from '../../store/s3/upload-day.ts';

export interface TransferLimits {
  /** Uploads and downloads of one person at once, at this server. */
  readonly perPerson: number;
  /** Whenever the server has waited this long for a client, in total, the client must have moved `leastBytesPerSecond` in that time. */
  readonly measuredMs: number;
  readonly leastBytesPerSecond: number;
  readonly longestUploadMs: number;
}

const LIMITS: TransferLimits = { perPerson: 20, measuredMs: 60_000, leastBytesPerSecond: 1024, longestUploadMs: LONGEST_UPLOAD_MS };
const LOOKS_A_MEASURE = 10;
const RETRY_AFTER_SECONDS = 5;

/** An upload or download in progress. */
export interface Transfer {
  /** Aborted when the transfer is stopped; the reason is the error to throw or to end the stream with. */
  readonly signal: AbortSignal;
  /** Call when the transfer has ended for any reason. Idempotent. */
  end(): void;
}

type Kind = 'upload' | 'download';

interface Measured {
  readonly kind: Kind;
  readonly traffic: Traffic;
  readonly cut: AbortController;
  readonly startedAt: number;
  waitedMs: number;
  bytesBefore: number;
}

/**
 * Uploads and downloads in progress at this server.
 *
 * Invariants:
 * - A user has at most `perPerson` of them, over all tokens and download links.
 * - A transfer whose client is slower than the least rate is stopped. Only the time that the server waits for the client counts, not the time in
 *   which stores work or an upload waits for its share of memory.
 * - One timer for all of them, and none while there are none.
 */
export class Transfers {
  readonly #limits: TransferLimits;
  readonly #clock: Clock;
  readonly #ofPerson = new Map<string, number>();
  readonly #underWay = new Set<Measured>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: { clock: Clock; limits?: Partial<TransferLimits> | undefined }) {
    this.#clock = deps.clock;
    this.#limits = { ...LIMITS, ...deps.limits };
  }

  /** `person`: uuid of the user to whom it counts. Throws `too_many_transfers`. */
  begin(kind: Kind, person: string, traffic: Traffic): Transfer {
    const before = this.#ofPerson.get(person) ?? 0;
    const { perPerson } = this.#limits;
    if (before >= perPerson) {
      const message = `You have ${perPerson} uploads and downloads in progress, the most that a user may have. Try again when one has ended.`;
      throw new Problem('too_many_transfers', message, { retryAfter: RETRY_AFTER_SECONDS });
    }
    this.#ofPerson.set(person, before + 1);
    const cut = new AbortController();
    const measured: Measured = {
      kind,
      traffic,
      cut,
      startedAt: this.#clock.monotonic(),
      waitedMs: 0,
      bytesBefore: bytesOf(kind, traffic),
    };
    this.#underWay.add(measured);
    const everyMs = this.#limits.measuredMs / LOOKS_A_MEASURE;
    this.#timer ??= setInterval(() => this.#look(everyMs), everyMs).unref();
    return { signal: cut.signal, end: () => this.#end(person, measured) };
  }

  #end(person: string, measured: Measured): void {
    if (!this.#underWay.delete(measured)) return;
    const left = (this.#ofPerson.get(person) ?? 1) - 1;
    if (left === 0) this.#ofPerson.delete(person);
    else this.#ofPerson.set(person, left);
    if (this.#underWay.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(passedMs: number): void {
    const now = this.#clock.monotonic();
    for (const measured of this.#underWay) {
      const { kind, cut, startedAt } = measured;
      if (kind === 'upload' && now - startedAt > this.#limits.longestUploadMs)
        cut.abort(new Problem('request_timeout', `An upload may take at most ${this.#limits.longestUploadMs / 3_600_000} h.`));
      else if (this.#isTooSlow(measured, passedMs)) cut.abort(kind === 'upload' ? this.#tooSlow() : cutOff());
    }
  }

  #isTooSlow(measured: Measured, passedMs: number): boolean {
    const { kind, traffic } = measured;
    if (!(kind === 'upload' ? traffic.awaitsBody : traffic.awaitsReader)) return false;
    measured.waitedMs += passedMs;
    if (measured.waitedMs < this.#limits.measuredMs) return false;
    const bytes = bytesOf(kind, traffic);
    const isTooSlow = bytes - measured.bytesBefore < (measured.waitedMs / 1000) * this.#limits.leastBytesPerSecond;
    Object.assign(measured, { waitedMs: 0, bytesBefore: bytes });
    return isTooSlow;
  }

  #tooSlow(): Problem {
    const { leastBytesPerSecond } = this.#limits;
    return new Problem('request_timeout', `The upload was too slow: it must send at least ${leastBytesPerSecond} bytes a second.`);
  }
}

const bytesOf = (kind: Kind, traffic: Traffic): number => (kind === 'upload' ? traffic.received : traffic.sent);

/** The status is sent already, so only closing the connection can report it; it is no error of the server. */
const cutOff = (): Error => Object.assign(new Error('the client read the download too slowly'), { code: 'ECANCELED' });
