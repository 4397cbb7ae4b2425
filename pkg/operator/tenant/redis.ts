import type { Logger } from '../../runtime/log.ts';
import { RedisUsers } from '../../store/redis/acl.ts';

/**
 * The tenants' Redis users. Each is asserted once, and again after every connection that was lost, since a server that was started
 * anew may have forgotten its users, and whenever this process begins to lead; in between nothing is asked.
 */
export class TenantRedis {
  readonly #users: RedisUsers;
  /** Password by slug, as asserted over the present connection. */
  readonly #asserted = new Map<string, string>();
  readonly #onReconnect = new Set<() => void>();
  #connections = 0;

  constructor(options: { url: string; log: Logger }) {
    this.#users = new RedisUsers({ ...options, onConnect: () => this.#connected() });
  }

  /** Throws StoreUnavailableError. */
  async ensure(slug: string, password: string): Promise<void> {
    if (this.#asserted.get(slug) === password) return;
    const connection = this.#connections;
    await this.#users.ensure({ slug, password });
    // Over the first connection, or over the one it began on; else a restart may have come between.
    if (connection === this.#connections || this.#connections === 1) this.#asserted.set(slug, password);
  }

  async remove(slug: string): Promise<void> {
    this.#asserted.delete(slug);
    await this.#users.remove(slug);
  }

  /** Another process may have led since, and removed or changed any of them: each is looked at anew. */
  forget(): void {
    this.#asserted.clear();
  }

  /** Calls `again` whenever all users must be looked at anew, until the answer is called. */
  onReconnect(again: () => void): () => void {
    this.#onReconnect.add(again);
    return () => this.#onReconnect.delete(again);
  }

  close(): Promise<void> {
    return this.#users.close();
  }

  #connected(): void {
    this.#connections += 1;
    if (this.#connections === 1) return;
    this.#asserted.clear();
    for (const again of this.#onReconnect) again();
  }
}
