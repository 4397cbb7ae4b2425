import { sleepUnlessAborted } from '../../../runtime/abort.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/log.ts';
import { RedisUsers } from '../../../store/redis/acl.ts';

const CONNECTIONS_EVERY_MS = 2_000;

/**
 * The tenants' Redis users. Each is asserted once, again after each lost connection, since a restarted server may have lost its
 * users, and whenever this process acquires leadership; no call in between.
 */
export class TenantRedis {
  readonly #users: RedisUsers;
  readonly #log: Logger;
  /** Passwords by slug that were asserted since the last connection. */
  readonly #asserted = new Map<string, string>();
  readonly #onReconnect = new Set<() => void>();
  #connections = 0;

  constructor(options: { url: string; log: Logger }) {
    this.#log = options.log;
    this.#users = new RedisUsers({ ...options, onConnect: () => this.#connected() });
  }

  /** Throws StoreUnavailableError. */
  async ensure(slug: string, passwords: readonly string[]): Promise<void> {
    const wanted = JSON.stringify(passwords);
    if (this.#asserted.get(slug) === wanted) return;
    const connection = this.#connections;
    await this.#users.ensure({ slug, passwords });
    // A reconnection during the call may hide a restart.
    if (connection === this.#connections || this.#connections === 1) this.#asserted.set(slug, wanted);
  }

  async remove(slug: string): Promise<void> {
    this.#asserted.delete(slug);
    await this.#users.remove(slug);
  }

  /** Makes the next reconciles assert each user again: before this leader another one may have removed or changed users. */
  resync(): void {
    this.#asserted.clear();
  }

  /** Calls `resync` when all users must be checked again. Returns a function that unsubscribes. */
  onReconnect(resync: () => void): () => void {
    this.#onReconnect.add(resync);
    return () => this.#onReconnect.delete(resync);
  }

  /** Prevents a tenant from holding all connections, until the signal is aborted. */
  async watchConnections(clock: Clock, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleepUnlessAborted(clock, CONNECTIONS_EVERY_MS, signal);
      if (signal.aborted) return;
      try {
        const users = await this.#users.endCrowds();
        if (users.length > 0) this.#log.warn({ users }, 'ended connections of Redis users that held too many');
      } catch {
        // Redis does not answer; the conditions of Tenants report it.
      }
    }
  }

  close(): Promise<void> {
    return this.#users.close();
  }

  #connected(): void {
    this.#connections += 1;
    if (this.#connections === 1) return;
    this.#asserted.clear();
    for (const resync of this.#onReconnect) resync();
  }
}
