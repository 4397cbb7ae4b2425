import { WebhookSeal } from '../../events/webhooks/secrets.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SqlPool } from '../../store/postgres/pool.ts';
import { type PerTenant, slugOf, type TenantSeal } from '../tenants.ts';
import { type Endpoint, loadEndpoint, openEndpoint } from './endpoint.ts';
import type { Delivery } from './ledger.ts';

/** For deliveries of events before it, a row holds for so long: a backlog reads it a few times a second. */
const HELD_MS = 200;
const MOST_HELD = 1_000;

export type OpenEndpoint = Endpoint & {
  /** Secrets and headers in clear, opened once. Throws SealError. */
  open(): Promise<ReturnType<typeof openEndpoint>>;
};

interface Held {
  readonly endpoint: Promise<OpenEndpoint | null>;
  readonly until: number;
}

/** The endpoints of one shard's tenants, each read in its tenant's role. */
export class Endpoints {
  readonly #deps: { pool: SqlPool; seals: PerTenant<TenantSeal>; clock: Clock };
  readonly #held = new Map<string, Held>();

  constructor(deps: { pool: SqlPool; seals: PerTenant<TenantSeal>; clock: Clock }) {
    this.#deps = deps;
  }

  /** As it was not earlier than the event, so that what follows a change follows it here too. Null: it has been removed. */
  async of(delivery: Delivery): Promise<OpenEndpoint | null> {
    const key = keyOf(delivery);
    let tooOld: Held | undefined;
    for (;;) {
      const held = this.#held.get(key);
      if (!held || held === tooOld || held.until <= this.#deps.clock.monotonic()) return this.#hold(key, delivery);
      const endpoint = await held.endpoint;
      if (endpoint === null || endpoint.readAt > delivery.createdAt) return endpoint;
      tooOld = held;
    }
  }

  /** The row has changed. */
  forget(delivery: Delivery): void {
    this.#held.delete(keyOf(delivery));
  }

  #hold(key: string, delivery: Delivery): Promise<OpenEndpoint | null> {
    const endpoint = this.#load(delivery);
    this.#held.delete(key);
    const [oldest] = this.#held.keys();
    if (this.#held.size >= MOST_HELD && oldest !== undefined) this.#held.delete(oldest);
    this.#held.set(key, { endpoint, until: this.#deps.clock.monotonic() + HELD_MS });
    endpoint.catch(() => this.#held.delete(key));
    return endpoint;
  }

  async #load({ tenant, endpoint }: Delivery): Promise<OpenEndpoint | null> {
    const { pool, seals } = this.#deps;
    const row = await pool.transaction((tx) => loadEndpoint(tx, endpoint), { role: tenant });
    if (!row) return null;
    let opened: ReturnType<OpenEndpoint['open']> | undefined;
    const open = async () => openEndpoint(new WebhookSeal(await seals.of(slugOf(tenant))), row, endpoint);
    return { ...row, open: () => (opened ??= open()) };
  }
}

const keyOf = ({ tenant, endpoint }: Delivery): string => `${tenant} ${endpoint}`;
