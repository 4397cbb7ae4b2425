import type { LastingFailure } from '../kube/result.ts';
import type { Clock } from '../runtime/clock.ts';
import { ConfigError } from '../runtime/config.ts';
import type { Logger } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { Sealer } from '../runtime/sealing.ts';
import type { ObserveStatement } from '../store/postgres/client.ts';
import { SqlPool } from '../store/postgres/pool.ts';
import { ensureShard, type ShardAccess, ShardUnfit } from '../store/postgres/provisioning.ts';
import { connectionBudget, hasRegistry, Registry } from '../store/postgres/registry.ts';
import { readShardFolders } from '../store/postgres/shard-folders.ts';
import { StoreUnavailableError } from '../store/unavailable.ts';
import { ConditionError } from './conditions/runner.ts';

/** A database that holds tenants. */
export interface ShardSettings {
  readonly name: string;
  /** The operator's own address: direct, not through a pooler. */
  readonly url: string;
  /** host:port that tenants connect to. */
  readonly tenantAddress: string;
  /** The worker's role gets this password, where the folder has a file `worker-url`. */
  readonly workerPassword: string | undefined;
}

/** Reads CARREL_SHARDS_DIR. Throws ConfigError. */
export const readShards = (dir: string): ShardSettings[] =>
  readShardFolders(
    dir,
    ['url', 'tenantAddress'],
    (what) =>
      new ConfigError(
        `operator: CARREL_SHARDS_DIR: ${what}. Give it a folder per shard with files url and tenant-address ` +
          '(docs/operate/settings.md).',
      ),
  ).map(({ workerUrl, ...shard }) => ({ ...shard, workerPassword: passwordIn(workerUrl) }));

const passwordIn = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) ? decodeURIComponent(new URL(url).password) : undefined;

export interface OpenShard extends ShardAccess {
  readonly settings: ShardSettings;
}

const POOL_SIZE = 8;
/**
 * A tenant may lock its own tables for as long as a minute (long-transactions.ts). A statement that waits for that fails sooner,
 * and the server ends one before its client gives it up. Migrations set their own.
 */
const TIME_OUTS = { lockTimeoutMs: 5_000, statementTimeoutMs: 55_000 };
const POLL_TIME_OUTS = { lockTimeoutMs: 5_000, statementTimeoutMs: 10_000, queryTimeoutMs: 15_000 };
/** A server's settings change when it restarts. */
const BUDGET_MS = 60_000;
/** The wait before a shard that did not answer is asked again. */
const BUDGET_RETRY_MS = 10_000;
/** A person corrects a fault in a database. */
export const UNFIT_RETRY_MS = 60_000;
/** Its tenants are reconciled when it is back (shard-states.ts); this covers changes without a notification. */
const LOST_RETRY_MS = 30_000;

/** The shard did not answer its last poll. */
class ShardLost extends StoreUnavailableError implements LastingFailure {
  readonly retryAfterMs = LOST_RETRY_MS;
}

/**
 * The shards and the registry: each is prepared at its first use, so that one that is unavailable affects only its own tenants.
 * While they are polled, one that did not answer fails at once until it does: nobody waits for it in a place of another tenant's.
 */
export class Shards {
  readonly #shards: ReadonlyMap<string, OpenShard>;
  readonly #registry: Registry;
  readonly #polls: ReadonlyMap<string, SqlPool>;
  /** Listeners for the notifications of each shard, by name. */
  readonly #listeners = new Map<string, () => void>();
  /** The result of each shard's last poll; null: it answered. Empty while no poll runs. */
  readonly #polled = new Map<string, StoreUnavailableError | null>();
  readonly #ready = new Map<string, Promise<void>>();
  readonly #clock: Clock;
  /** `until` is monotonic. */
  readonly #budgets = new Map<string, { readonly asked: Promise<number>; until: number }>();

  constructor(deps: {
    shards: readonly ShardSettings[];
    sealer: Sealer;
    clock: Clock;
    random: Random;
    log: Logger;
    observe?: ObserveStatement;
  }) {
    const { clock, random, log, sealer } = deps;
    this.#clock = clock;
    const common = { log, ...(deps.observe ? { observe: deps.observe } : {}) };
    this.#shards = new Map(
      deps.shards.map((settings) => {
        const pool = new SqlPool({ url: settings.url, poolSize: POOL_SIZE, ...TIME_OUTS, ...common });
        return [settings.name, { settings, pool, clock, random }];
      }),
    );
    this.#polls = new Map(
      deps.shards.map(({ name, url }) => {
        const onNotification = (): void => this.#listeners.get(name)?.();
        return [name, new SqlPool({ url, poolSize: 1, ...POLL_TIME_OUTS, ...common, onNotification })];
      }),
    );
    const [first] = this.#shards.values();
    if (!first) throw new ConfigError('operator: CARREL_SHARDS_DIR holds no shard (docs/operate/settings.md).');
    this.#registry = new Registry({ pool: first.pool, sealer, clock, random });
  }

  get names(): string[] {
    return [...this.#shards.keys()];
  }

  /** Throws ConditionError (ShardMissing, ShardUnfit) and StoreUnavailableError. */
  async open(name: string): Promise<OpenShard> {
    const lost = this.#polled.get(name);
    if (lost) throw new ShardLost('postgres', lost.cause);
    return this.#prepared(name);
  }

  /**
   * Runs `work` on a connection for polls, which is free even when all others are in use. Throws what `open` and `work` throw.
   */
  async poll(name: string, work: (pool: SqlPool) => Promise<void>): Promise<void> {
    const pool = this.#polls.get(name);
    if (!pool) throw new Error(`there is no shard ${name}`);
    try {
      await this.#prepared(name);
      await work(pool);
      this.#polled.set(name, null);
    } catch (error) {
      this.#polled.set(name, error instanceof StoreUnavailableError ? error : null);
      throw error;
    }
  }

  /** Calls `listener` when the connection that polls the shard, which must LISTEN, is notified. */
  onNotification(name: string, listener: () => void): void {
    this.#listeners.set(name, listener);
  }

  /** Returns whether each shard answered its last poll; empty while no poll runs. */
  get polled(): ReadonlyMap<string, boolean> {
    return new Map([...this.#polled].map(([name, lost]) => [name, lost === null]));
  }

  /** Polls have ended: each `open` asks the shard itself. */
  endPolls(): void {
    this.#polled.clear();
  }

  async #prepared(name: string): Promise<OpenShard> {
    const open = this.#shards.get(name);
    if (!open)
      throw new ConditionError('ShardMissing', `the operator's configuration no longer has shard ${name}`, { isTerminal: true });
    await this.#once(name, () =>
      ensureShard(open, open.settings.workerPassword === undefined ? {} : { workerPassword: open.settings.workerPassword }),
    );
    return open;
  }

  /** Returns the registry, which is in the first shard. Throws what `open` throws. */
  async registry(): Promise<Registry> {
    const [first = ''] = this.names;
    await this.open(first);
    await this.#once('registry of the first shard', async () => {
      await this.#requireNoOtherRegistry();
      await this.#registry.ensureSchema();
    });
    return this.#registry;
  }

  /**
   * A second registry would give the tenants of the first one new ids, and empty schemas. All shards must answer before the first
   * registry is made.
   */
  async #requireNoOtherRegistry(): Promise<void> {
    const [first, ...others] = this.#shards.values();
    if (!first || (await hasRegistry(first.pool))) return;
    for (const { settings, pool } of others)
      if (await hasRegistry(pool))
        throw new ConditionError(
          'ShardUnfit',
          `the registry is in shard ${settings.name}, and the name of shard ${first.settings.name} comes before it: ` +
            `give new shards names that sort after ${settings.name}`,
          { isTerminal: true, retryAfterMs: UNFIT_RETRY_MS },
        );
  }

  /**
   * Returns the connections beyond the basic ones that the shard has for its tenants. One statement a minute. Throws what `open`
   * throws.
   */
  async connectionBudget(name: string): Promise<number> {
    const known = this.#budgets.get(name);
    if (known && this.#clock.monotonic() < known.until) return known.asked;
    const asked = this.open(name).then(({ pool }) => connectionBudget(pool));
    const asking = { asked, until: Infinity };
    this.#budgets.set(name, asking);
    try {
      const budget = await asked;
      asking.until = this.#clock.monotonic() + BUDGET_MS;
      return budget;
    } catch (error) {
      asking.until = this.#clock.monotonic() + BUDGET_RETRY_MS;
      throw error;
    }
  }

  /** Returns the shards that answer. A result is up to a minute old, or 10 s for a shard that did not answer. */
  async answering(): Promise<string[]> {
    const asked = await Promise.all(
      this.names.map((name) =>
        this.connectionBudget(name).then(
          () => [name],
          () => [],
        ),
      ),
    );
    return asked.flat();
  }

  async close(): Promise<void> {
    await Promise.all(
      [...[...this.#shards.values()].map(({ pool }) => pool), ...this.#polls.values()].map((pool) => pool.close()),
    );
  }

  /** A success is cached; the next caller retries a failure. */
  async #once(name: string, prepare: () => Promise<void>): Promise<void> {
    const preparing = this.#ready.get(name) ?? prepare();
    this.#ready.set(name, preparing);
    try {
      await preparing;
    } catch (error) {
      if (this.#ready.get(name) === preparing) this.#ready.delete(name);
      if (error instanceof ShardUnfit)
        throw new ConditionError('ShardUnfit', `shard ${name}: ${error.message}`, {
          isTerminal: true,
          retryAfterMs: UNFIT_RETRY_MS,
          cause: error,
        });
      throw error;
    }
  }
}
