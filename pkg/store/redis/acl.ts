import { createHash } from 'node:crypto';
import { Redis as Client } from 'ioredis';
import type { Logger } from '../../runtime/log.ts';
import { StoreUnavailableError } from '../unavailable.ts';
import { COMMANDS, CONNECTION_COMMANDS } from './commands.ts';
import { LIBRARY, LIBRARY_CODE } from './library.ts';
import { WAKE_CHANNEL } from './redis.ts';
import { isRedisUnavailable } from './unavailable.ts';

/**
 * Redis users of tenants, and the library of functions that they call, kept by the operator.
 *
 * Invariants:
 * - A tenant's user reaches keys under its own prefix and publishes on the wake-up channel. It may run the commands that
 *   Carrel uses (commands.ts) and no others: it sends no Lua, lists no keys and administers nothing.
 * - The library is loaded at each connection, before any user is made, and again where it is found missing or changed.
 * - A user that is as it should be costs one round trip and no write.
 * - Where the server keeps users in a file (`aclfile`), every change is saved there.
 */
export const redisUser = (slug: string): string => `tenant_${slug}`;
export const redisPrefix = (slug: string): string => `t:${slug}:`;

/** Of each user, the hash of its last definition and the server's description of it: a difference on either side shows drift. */
const fingerprintKey = (user: string): string => `carrel:acl:${user}`;
/** Where it is gone, the user is written once more. */
const FINGERPRINT_TTL_SECONDS = 30 * 86_400;

/** With the usual 10,000 in all, 500 of one tenant. A server has one. */
const SHARE_OF_CONNECTIONS = 1 / 20;

export class RedisUsers {
  readonly #client: Client;

  /**
   * `url` is an administrator's. `onConnect` is called at each connection: a server that was restarted may have lost its users.
   */
  constructor(options: { url: string; log: Logger; timeoutMs?: number; onConnect?: () => void }) {
    this.#client = new Client(options.url, {
      lazyConnect: true,
      commandTimeout: options.timeoutMs ?? 5_000,
      connectTimeout: 5_000,
      maxRetriesPerRequest: 1,
    });
    this.#client.on('ready', () => {
      this.#loadLibrary().catch((error: unknown) => options.log.warn({ err: error }, 'could not load the functions into Redis'));
      options.onConnect?.();
    });
    this.#client.on('error', (error: Error) => options.log.debug({ err: error }, 'the connection to Redis failed'));
  }

  /** Makes or mends the tenant's user; each of the passwords is valid. Throws StoreUnavailableError. */
  async ensure(tenant: { slug: string; passwords: readonly string[] }): Promise<{ changed: boolean }> {
    return this.#guarded(async () => {
      const user = redisUser(tenant.slug);
      const rules = rulesOf(tenant);
      const [known, present, library] = await Promise.all([
        this.#client.get(fingerprintKey(user)),
        this.#describe(user),
        this.#client.call('FUNCTION', ['LIST', 'LIBRARYNAME', LIBRARY, 'WITHCODE']),
      ]);
      if (codeOf(library) !== LIBRARY_CODE) await this.#loadLibrary();
      if (present !== null && known === fingerprint(rules, present)) return { changed: false };
      await this.#client.call('ACL', ['SETUSER', user, ...rules]);
      await this.#save();
      const written = fingerprint(rules, await this.#describe(user));
      await this.#client.set(fingerprintKey(user), written, 'EX', FINGERPRINT_TTL_SECONDS);
      return { changed: true };
    });
  }

  /** Ends the user's connections and removes it with its keys. Gone already is fine. */
  async remove(slug: string): Promise<void> {
    await this.#guarded(async () => {
      await this.#client.call('ACL', ['DELUSER', redisUser(slug)]);
      await this.#save();
      await this.#client.del(fingerprintKey(redisUser(slug)));
      await this.#removeKeys(`${redisPrefix(slug)}*`);
    });
  }

  /** Removes the tenant's keys, which are all caches and counters; the user stays. Throws StoreUnavailableError. */
  async removeKeys(slug: string): Promise<void> {
    await this.#guarded(() => this.#removeKeys(`${redisPrefix(slug)}*`));
  }

  /**
   * Once half of all connections are taken: ends those of tenants' users that have more than their share, and gives these users.
   * Redis itself bounds only all of them, and whoever holds them keeps others out. Connections that have not signed in have a
   * share together; Redis lists them as those of `default`, which is off. Throws StoreUnavailableError.
   */
  async endCrowds(): Promise<string[]> {
    return this.#guarded(async () => {
      const info = await this.#client.info('clients');
      const figure = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
      if (figure('connected_clients') < figure('maxclients') / 2) return [];
      const list = String(await this.#client.call('CLIENT', ['LIST']));
      const byUser = Map.groupBy(list.matchAll(/ user=(tenant_\S+|default)/g), ([, user = '']) => user);
      const crowds = [...byUser]
        .filter(([, { length }]) => length > figure('maxclients') * SHARE_OF_CONNECTIONS)
        .map(([user]) => user);
      for (const user of crowds) await this.#client.call('CLIENT', ['KILL', 'USER', user]);
      return crowds;
    });
  }

  async close(): Promise<void> {
    this.#client.disconnect();
    await Promise.resolve();
  }

  async #loadLibrary(): Promise<void> {
    await this.#client.call('FUNCTION', ['LOAD', 'REPLACE', LIBRARY_CODE]);
  }

  /** The server's description of a user; null: there is none. */
  async #describe(user: string): Promise<unknown> {
    return this.#client.call('ACL', ['GETUSER', user]);
  }

  async #save(): Promise<void> {
    const [, file] = (await this.#client.call('CONFIG', ['GET', 'aclfile'])) as string[];
    if (file) await this.#client.call('ACL', ['SAVE']);
  }

  async #removeKeys(pattern: string): Promise<void> {
    let cursor = '0';
    do {
      const [next, keys] = await this.#client.scan(cursor, 'MATCH', pattern, 'COUNT', 1_000);
      if (keys.length > 0) await this.#client.unlink(...keys);
      cursor = next;
    } while (cursor !== '0');
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw isRedisUnavailable(error) ? new StoreUnavailableError('redis', error) : error;
    }
  }
}

/** Sends only the hashes of the passwords. */
const rulesOf = ({ slug, passwords }: { slug: string; passwords: readonly string[] }): string[] => [
  'reset',
  'on',
  ...passwords.map((password) => `#${createHash('sha256').update(password).digest('hex')}`),
  `~${redisPrefix(slug)}*`,
  'resetchannels',
  `&${WAKE_CHANNEL}`,
  '-@all',
  ...[...COMMANDS, ...CONNECTION_COMMANDS].map((command) => `+${command}`),
];

/** The code in a reply of FUNCTION LIST WITHCODE: one library, as a list of names and values; undefined: it is not loaded. */
function codeOf(reply: unknown): string | undefined {
  const [library] = reply as string[][];
  return library?.[library.indexOf('library_code') + 1];
}

const fingerprint = (rules: readonly string[], present: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([rules, present]))
    .digest('hex');
