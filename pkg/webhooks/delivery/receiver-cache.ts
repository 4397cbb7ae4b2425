import { LRUCache } from 'lru-cache';
import { WebhookSeal } from '../sealing.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type PerTenant, slugOf, type TenantSeal } from '../../store/tenant-resources.ts';
import { type Receiver, loadReceiver, openReceiver } from './receiver.ts';
import type { Delivery } from './delivery-store.ts';

/** A row serves deliveries of events that are older than it for this long: a backlog reads the row a few times a second. */
const TTL_MS = 200;
const MAX_ENTRIES = 1_000;

export type OpenReceiver = Receiver & {
  /** Returns the keys and headers in clear, opened once. Throws SealError. */
  open(): Promise<ReturnType<typeof openReceiver>>;
};

/** The webhooks of one shard's tenants, each read in its tenant's role. */
export class ReceiverCache {
  readonly #deps: { db: Database; seals: PerTenant<TenantSeal>; clock: Clock };
  readonly #cache: LRUCache<string, Promise<OpenReceiver | null>>;

  constructor(deps: { db: Database; seals: PerTenant<TenantSeal>; clock: Clock }) {
    this.#deps = deps;
    this.#cache = new LRUCache({ max: MAX_ENTRIES, ttl: TTL_MS, ttlResolution: 0, perf: { now: () => deps.clock.monotonic() } });
  }

  /**
   * Returns the webhook as it was after the event, so an event that follows a change is delivered by the changed row. Returns
   * null if the webhook is deleted.
   */
  async of(delivery: Delivery): Promise<OpenReceiver | null> {
    const key = keyOf(delivery);
    let tooOld: Promise<OpenReceiver | null> | undefined;
    for (;;) {
      const cached = this.#cache.get(key);
      if (cached === undefined || cached === tooOld) return this.#read(key, delivery);
      const receiver = await cached;
      if (receiver === null || receiver.readAt > delivery.createdAt) return receiver;
      tooOld = cached;
    }
  }

  /** Makes the next delivery read the row again, since it has changed. */
  invalidate(delivery: Delivery): void {
    this.#cache.delete(keyOf(delivery));
  }

  #read(key: string, delivery: Delivery): Promise<OpenReceiver | null> {
    const receiver = this.#load(delivery);
    this.#cache.set(key, receiver);
    receiver.catch(() => {
      if (this.#cache.peek(key) === receiver) this.#cache.delete(key);
    });
    return receiver;
  }

  async #load({ tenant, endpoint }: Delivery): Promise<OpenReceiver | null> {
    const { db, seals } = this.#deps;
    const row = await loadReceiver(db.as(tenant), endpoint);
    if (!row) return null;
    let opened: ReturnType<OpenReceiver['open']> | undefined;
    const open = async () => openReceiver(new WebhookSeal(await seals.of(slugOf(tenant))), row);
    return { ...row, open: () => (opened ??= open()) };
  }
}

const keyOf = ({ tenant, endpoint }: Delivery): string => `${tenant} ${endpoint}`;
