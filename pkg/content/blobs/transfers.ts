import { Counter, Gauge } from 'prom-client';
import type { Traffic } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { leastRate, TRANSFER_LIMITS, type TransferLimits } from './transfer-limits.ts';
import { HOUR_MS } from '../../runtime/time.ts';

const CHECKS_PER_MEASUREMENT = 10;
const RETRY_AFTER_SECONDS = 5;

/** An archive is a download of many files. */
export type TransferKind = 'upload' | 'download' | 'archive';

/** The party that a transfer counts against: a user, by uuid; for a share link, its maker and the network that uses it. */
export type Counted = { readonly person: string } | { readonly linkOf: string; readonly network: string };

/** An upload or download in progress. */
export interface Transfer {
  /** Aborted when the transfer is stopped; the reason is the error to throw or to end the stream with. */
  readonly signal: AbortSignal;
  /** Call when the transfer has ended for any reason. Idempotent. */
  end(): void;
}

/** A number that a transfer counts in. `name` is the label of the metric; `takes`: 1 unless set. */
interface Slot {
  readonly name:
    | 'person'
    | 'link_owner'
    | 'network'
    | 'links'
    | 'uploads_from_network'
    | 'uploads_of_link_owner'
    | 'uploads_by_links'
    | 'downloads'
    | 'archives'
    | 'archives_of_person'
    | 'archives_of_link_owner'
    | 'archives_to_network'
    | 'archives_by_links'
    | 'archive_bytes'
    | 'archive_bytes_of_person'
    | 'archive_bytes_by_links';
  readonly key: string;
  readonly most: number;
  readonly takes?: number;
}

interface Measured {
  readonly kind: TransferKind;
  readonly slots: readonly Slot[];
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
 * - A user has at most `perPerson` of them, over all tokens and download links. Downloads by share links count against the link's
 *   maker and the network. Together they have at most half of the server's downloads and of its archives, however many links,
 *   networks and accounts are used.
 * - A transfer is stopped if its client is slower than the minimum rate, or if it lasts too long. Only the time in which the
 *   server waits for the client counts, not the time in which stores work or an upload waits for its share of memory. The
 *   minimum rate rises with the number of downloads.
 * - All transfers share one timer, which runs only while there are transfers.
 */
export class Transfers {
  readonly #limits: TransferLimits;
  readonly #clock: Clock;
  readonly #taken = new Map<string, number>();
  readonly #underWay = new Set<Measured>();
  readonly #refused: Counter<'limit'>;
  readonly #stopped: Counter<'kind' | 'reason'>;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: { clock: Clock; metrics: Metrics; limits?: Partial<TransferLimits> | undefined }) {
    this.#clock = deps.clock;
    this.#limits = { ...TRANSFER_LIMITS, ...deps.limits };
    const registers = [deps.metrics];
    const gauge: Gauge<'kind'> = new Gauge({
      name: 'transfers_in_progress',
      help: 'Uploads, downloads and archives in progress',
      labelNames: ['kind'],
      registers,
      collect: () => this.#count(gauge),
    });
    this.#refused = new Counter({
      name: 'transfers_refused_total',
      help: 'Uploads and downloads refused, by the limit that was reached',
      labelNames: ['limit'],
      registers,
    });
    this.#stopped = new Counter({
      name: 'transfers_stopped_total',
      help: 'Uploads and downloads stopped since their client was too slow or they lasted too long',
      labelNames: ['kind', 'reason'],
      registers,
    });
  }

  /** The bytes that one archive may hold, which all archives of one person may hold together. */
  get mostOfArchive(): number {
    return this.#limits.archiveBytes / 2;
  }

  /** Throws `too_many_transfers`, or `unavailable` if the server has reached its limit. */
  begin(kind: 'upload' | 'download', counted: Counted, traffic: Traffic): Transfer {
    return this.#begin(kind, this.#slotsOf(kind, counted), traffic);
  }

  /** Begins a transfer of an archive that may hold so many bytes of memory until it ends. */
  beginArchive(counted: Counted, bytes: number, traffic: Traffic): Transfer {
    const { archives, archiveBytes } = this.#limits;
    const slots: Slot[] = [
      ...this.#archiveSlotsOf(counted, bytes),
      { name: 'archives', key: 'archives', most: archives },
      { name: 'archive_bytes', key: 'archive-bytes', most: archiveBytes, takes: bytes },
    ];
    return this.#begin('archive', [...slots, ...this.#slotsOf('archive', counted)], traffic);
  }

  #archiveSlotsOf(counted: Counted, bytes: number): Slot[] {
    const { archives, archivesPerPerson, archivesByLinks } = this.#limits;
    if ('person' in counted)
      return [
        { name: 'archives_of_person', key: `archives:${counted.person}`, most: archivesPerPerson },
        {
          name: 'archive_bytes_of_person',
          key: `archive-bytes:${counted.person}`,
          most: this.mostOfArchive,
          takes: bytes,
        },
      ];
    return [
      { name: 'archives_to_network', key: `archives:network:${counted.network}`, most: archivesByLinks },
      { name: 'archives_of_link_owner', key: `archives:owner:${counted.linkOf}`, most: archivesByLinks },
      { name: 'archives_by_links', key: 'archives:links', most: archives / 2 },
      { name: 'archive_bytes_by_links', key: 'archive-bytes:links', most: this.mostOfArchive, takes: bytes },
    ];
  }

  #begin(kind: TransferKind, slots: readonly Slot[], traffic: Traffic): Transfer {
    const full = slots.find(({ key, most, takes = 1 }) => (this.#taken.get(key) ?? 0) + takes > most);
    if (full) {
      this.#refused.inc({ limit: full.name });
      throw refusal(full);
    }
    for (const { key, takes = 1 } of slots) this.#taken.set(key, (this.#taken.get(key) ?? 0) + takes);
    const cut = new AbortController();
    const measured: Measured = {
      kind,
      slots,
      traffic,
      cut,
      startedAt: this.#clock.monotonic(),
      waitedMs: 0,
      bytesBefore: bytesOf(kind, traffic),
    };
    this.#underWay.add(measured);
    const everyMs = this.#limits.measuredMs / CHECKS_PER_MEASUREMENT;
    this.#timer ??= setInterval(() => this.#check(everyMs), everyMs).unref();
    return { signal: cut.signal, end: () => this.#end(measured) };
  }

  /** Returns the slots of a transfer, the narrowest first: a refusal names the limit that the caller can do something about. */
  #slotsOf(kind: TransferKind, counted: Counted): Slot[] {
    const limits = this.#limits;
    if (kind === 'upload' && 'linkOf' in counted)
      return [
        { name: 'uploads_from_network', key: `uploads:network:${counted.network}`, most: limits.uploadsByLinksFromNetwork },
        { name: 'uploads_of_link_owner', key: `uploads:owner:${counted.linkOf}`, most: limits.uploadsByLinksOfOwner },
        { name: 'uploads_by_links', key: 'uploads:links', most: limits.uploadsByLinks },
      ];
    const slots: Slot[] =
      'person' in counted
        ? [{ name: 'person', key: `person:${counted.person}`, most: limits.perPerson }]
        : [
            { name: 'network', key: `network:${counted.network}`, most: limits.byLinksToNetwork },
            { name: 'link_owner', key: `owner:${counted.linkOf}`, most: limits.byLinksOfOwner },
            { name: 'links', key: 'links', most: limits.byLinks },
          ];
    if (kind !== 'upload') slots.push({ name: 'downloads', key: 'downloads', most: limits.downloads });
    return slots;
  }

  #end(measured: Measured): void {
    if (!this.#underWay.delete(measured)) return;
    for (const { key, takes = 1 } of measured.slots) {
      const left = (this.#taken.get(key) ?? 0) - takes;
      if (left <= 0) this.#taken.delete(key);
      else this.#taken.set(key, left);
    }
    if (this.#underWay.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #check(passedMs: number): void {
    const now = this.#clock.monotonic();
    for (const measured of this.#underWay) {
      if (now - measured.startedAt > this.#limits.longestMs) this.#stop(measured, 'too_long');
      else if (this.#isTooSlow(measured, passedMs)) this.#stop(measured, 'too_slow');
    }
  }

  #stop({ kind, cut }: Measured, reason: 'too_long' | 'too_slow'): void {
    if (cut.signal.aborted) return;
    this.#stopped.inc({ kind, reason });
    cut.abort(kind === 'upload' ? this.#timeout(reason) : cutOff(reason));
  }

  #isTooSlow(measured: Measured, passedMs: number): boolean {
    const { kind, traffic } = measured;
    if (!(kind === 'upload' ? traffic.awaitsBody : traffic.awaitsReader)) return false;
    measured.waitedMs += passedMs;
    if (measured.waitedMs < this.#limits.measuredMs) return false;
    const bytes = bytesOf(kind, traffic);
    const isTooSlow = bytes - measured.bytesBefore < (measured.waitedMs / 1000) * this.#leastRate(measured);
    Object.assign(measured, { waitedMs: 0, bytesBefore: bytes });
    return isTooSlow;
  }

  /** The least rate of a download rises with the number of transfers among which it counts. */
  #leastRate({ kind, slots }: Measured): number {
    if (kind === 'upload') return this.#limits.leastBytesPerSecond;
    const shared = slots.filter(({ name }) => name === 'downloads' || name === 'links' || name === 'archives');
    return leastRate(this.#limits, Math.max(...shared.map(({ key, most }) => (this.#taken.get(key) ?? 0) / most)));
  }

  #timeout(reason: 'too_long' | 'too_slow'): Problem {
    const { leastBytesPerSecond, longestMs } = this.#limits;
    const message =
      reason === 'too_long'
        ? `An upload may take at most ${longestMs / HOUR_MS} h.`
        : `The upload was too slow: it must send at least ${leastBytesPerSecond} bytes a second.`;
    return new Problem('request_timeout', message);
  }

  #count(gauge: Gauge<'kind'>): void {
    const counts = { upload: 0, download: 0, archive: 0 };
    for (const { kind } of this.#underWay) counts[kind] += 1;
    for (const kind of ['upload', 'download', 'archive'] as const) gauge.set({ kind }, counts[kind]);
  }
}

const bytesOf = (kind: TransferKind, traffic: Traffic): number => (kind === 'upload' ? traffic.received : traffic.sent);

const KINDS = ['archives', 'uploads'] as const;
const AGAIN = 'Try again when one has ended.';
const TOO_MANY_ARCHIVES = `You are already downloading as many archives as a user may. ${AGAIN}`;
const allTaken = (what: string): string => `This server has reached its limit of ${what} in progress. ${AGAIN}`;

/** Message of a refusal by a limit of the caller. */
const CALLER_MESSAGES: Partial<Record<Slot['name'], (most: number) => string>> = {
  person: (most) => `You already have ${most} uploads and downloads in progress, the maximum. ${AGAIN}`,
  archives_of_person: () => TOO_MANY_ARCHIVES,
  archive_bytes_of_person: () => TOO_MANY_ARCHIVES,
  uploads_from_network: (most) => `Your network already has ${most} uploads by share links in progress, the maximum. ${AGAIN}`,
  uploads_of_link_owner: (most) => `${most} uploads by links of this person are already in progress, the maximum. ${AGAIN}`,
  archives_to_network: (most) => `Your network already has ${most} archives by share links in progress, the maximum. ${AGAIN}`,
  archives_of_link_owner: (most) => `${most} archives by links of this person are already in progress, the maximum. ${AGAIN}`,
  network: (most) => `Your network already has ${most} downloads by share links in progress, the maximum. ${AGAIN}`,
  link_owner: (most) => `${most} downloads by links of this person are already in progress, the maximum. ${AGAIN}`,
};

function refusal({ name, most }: Slot): Problem {
  const retry = { retryAfter: RETRY_AFTER_SECONDS };
  const message = CALLER_MESSAGES[name];
  return message
    ? new Problem('too_many_transfers', message(most), retry)
    : new Problem('unavailable', allTaken(KINDS.find((kind) => name.startsWith(kind.slice(0, -1))) ?? 'downloads'), retry);
}

/** The status is sent already, so only closing the connection can report it; it is no error of the server. */
const cutOff = (reason: 'too_long' | 'too_slow'): Error =>
  Object.assign(new Error(reason === 'too_slow' ? 'the client read the download too slowly' : 'the download lasted too long'), {
    code: 'ECANCELED',
  });
