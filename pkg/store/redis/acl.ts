import { createHash } from 'node:crypto';
import { Redis as Client } from 'ioredis';
import type { Logger } from '../../runtime/log.ts';
import { StoreUnavailableError } from '../unavailable.ts';
import { COMMANDS, CONNECTION_COMMANDS } from './commands.ts';
import { LIBRARY, LIBRARY_CODE } from './library.ts';
import { WAKE_CHANNEL } from './redis.ts';
import { isRedisUnavailable } from './unavailable.ts';

/**
 * Redis users of tenants, and the library of functions that they call, managed by the operator.
 *
 * Invariants:
 * - A tenant's user can access keys under its own prefix and publish on the wake-up channel. It may run the commands that Carrel
 *   uses (commands.ts) and no others: it sends no Lua, lists no keys and administers nothing.
 * - The library is loaded at each connection, before any user is created, and again if it is missing or changed.
 * - A user that is correct costs one round trip and no write.
 * - If the server stores users in a file (`aclfile`), every change is saved there.
 */
export const redisUser = (slug: string): string => `tenant_${slug}`;
export const redisPrefix = (slug: string): string => `t:${slug}:`;

/** For each user, the hash of its last definition and the server's description of it: a difference on either side shows drift. */
const fingerprintKey = (user: string): string => `carrel:acl:${user}`;
/** When it has expired, the user is written once more. */
const FINGERPRINT_TTL_SECONDS = 30 * 86_400;

/** With the usual 10,000 connections in all, one tenant gets 500. A server has one. */
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

  /** Creates or corrects the tenant's user; each of the passwords is valid. Throws StoreUnavailableError. */
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

  /** Ends the user's connections and removes it with its keys. A missing user is not an error. */
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
   * Once half of all connections are in use, ends those of tenants' users with more than their share, and returns these users.
   * Redis itself limits only the total, and whoever holds all connections excludes others. Connections that have not signed in
   * have one share together; Redis lists them under `default`, which is disabled. Throws StoreUnavailableError.
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

  /** Returns the server's description of a user; null if there is no such user. */
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

/**
 * Returns the code in a reply of FUNCTION LIST WITHCODE: one library, as a list of names and values. Undefined if it is not
 * loaded.
 */
function codeOf(reply: unknown): string | undefined {
  const [library] = reply as string[][];
  return library?.[library.indexOf('library_code') + 1];
}

const fingerprint = (rules: readonly string[], present: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([rules, present]))
    .digest('hex');
