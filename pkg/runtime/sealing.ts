import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { Random } from './random.ts';

/**
 * Secrets at rest: AES-256-GCM with a key that has an id, so that keys can be rotated.
 *
 * A sealed text is `v1.<key id>.<base64url of nonce, ciphertext and tag>`. Its tenant, table, row and column are associated data:
 * a sealed value that is copied to another row does not open.
 */
export interface SealingKey {
  /** `[A-Za-z0-9_-]{1,32}`; a data key of generation 1 or later also has `~` and its generation. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed text does not open: its key is unknown, its associated data differ, or it was changed. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

export class Sealer {
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #current: { readonly id: string; readonly key: KeyObject };
  readonly #random: Random;
  readonly #find: (id: string) => SealingKey | undefined;

  /** The first key seals. Every key opens, and so does the key that `find` returns for another id. */
  constructor(keys: readonly SealingKey[], random: Random, find: (id: string) => SealingKey | undefined = () => undefined) {
    // Given bytes instead of a key object, Node takes several times as long to create a cipher.
    const [current, ...others] = keys.map(({ id, key }) => ({ id, key: createSecretKey(key) }));
    if (!current) throw new SealError('there is no sealing key');
    this.#current = current;
    this.#keys = new Map([current, ...others].map(({ id, key }) => [id, key]));
    this.#random = random;
    this.#find = find;
  }

  seal(plain: string, associatedData: readonly string[]): string {
    const nonce = this.#random.bytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#current.key, nonce).setAAD(bytesOf(associatedData));
    const body = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `v1.${this.#current.id}.${body.toString('base64url')}`;
  }

  /** Throws SealError when the text was not sealed with one of the keys and the same associated data. */
  open(sealed: string, associatedData: readonly string[]): string {
    const [version, id, encoded] = sealed.split('.');
    const key = version === 'v1' && id !== undefined ? (this.#keys.get(id) ?? this.#find(id)?.key) : undefined;
    if (!key || encoded === undefined) throw new SealError(`no key ${id ?? ''} to open a sealed value`);
    const body = Buffer.from(encoded, 'base64url');
    if (body.length < NONCE_BYTES + TAG_BYTES) throw new SealError('a sealed value is truncated');
    const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, NONCE_BYTES))
      .setAAD(bytesOf(associatedData))
      .setAuthTag(body.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(body.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8');
    } catch {
      throw new SealError(`a sealed value does not belong to ${associatedData.join('/')}`);
    }
  }

  /**
   * Returns the HMAC-SHA256 of `data` in hex for each key, by a subkey derived for this `purpose`. Store the first and compare
   * with all of them, so that a stored HMAC is recognized after a rotation.
   */
  hmacs(purpose: string, data: readonly (string | Buffer)[]): string[] {
    return [...this.#keys.values()].map((key) => {
      const hmac = createHmac('sha256', Buffer.from(hkdfSync('sha256', key, 'carrel', purpose, 32)));
      for (const part of data) hmac.update(part);
      return hmac.digest('hex');
    });
  }

  /** The id of the key that seals. */
  get keyId(): string {
    return this.#current.id;
  }

  /** Returns true if another key than the first sealed the text, so that it must be resealed after a rotation. */
  isStale(sealed: string): boolean {
    return sealed.split('.')[1] !== this.#current.id;
  }
}

/** Prefixes each string with its length, so that different lists result in different bytes. */
const bytesOf = (associatedData: readonly string[]): Buffer =>
  Buffer.from(associatedData.map((part) => `${Buffer.byteLength(part)}:${part}`).join(''));

/**
 * Derives a tenant's data key (32 bytes) from the platform key, the tenant's id and the key's generation (HKDF-SHA256). Its id is
 * the platform key's id; from generation 1 on, `~` and the generation follow. So whoever has the platform keys finds the key by
 * its id.
 */
export function tenantDataKey(platform: SealingKey, tenantId: string, generation = 0): SealingKey {
  const suffix = (separator: string): string => (generation === 0 ? '' : `${separator}${generation}`);
  const info = `tenant-data-key:${tenantId}${suffix(':')}`;
  return { id: `${platform.id}${suffix('~')}`, key: Buffer.from(hkdfSync('sha256', platform.key, 'carrel', info, 32)) };
}

/**
 * For holders of the platform keys: seals with the tenant's data key of this generation, and opens what any generation sealed.
 */
export function tenantSealer(platformKeys: readonly SealingKey[], tenantId: string, random: Random, generation = 0): Sealer {
  const find = (id: string): SealingKey | undefined => {
    const [, platformId, of] = DATA_KEY_ID.exec(id) ?? [];
    const platform = platformKeys.find((key) => key.id === platformId);
    return platform && tenantDataKey(platform, tenantId, Number(of ?? 0));
  };
  return new Sealer(
    platformKeys.map((platform) => tenantDataKey(platform, tenantId, generation)),
    random,
    find,
  );
}

const PLATFORM_KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
const DATA_KEY_ID = /^([A-Za-z0-9_-]{1,32})(?:~([1-9]\d{0,8}))?$/;

/** Reads `id:base64,id:base64…`; each key must be 32 bytes. Throws SealError that names the id, never the key. */
export const parseSealingKeys = (text: string): SealingKey[] => parseKeys(text, PLATFORM_KEY_ID);

function parseKeys(text: string, isId: RegExp): SealingKey[] {
  return text.split(',').map((entry) => {
    const at = entry.indexOf(':');
    const id = entry.slice(0, Math.max(at, 0)).trim();
    if (!isId.test(id)) throw new SealError('a key has the form id:base64; an id has letters, digits, - and _');
    const key = Buffer.from(entry.slice(at + 1).trim(), 'base64');
    if (key.length !== 32) throw new SealError(`key ${id} is not 32 bytes in base64`);
    return { id, key };
  });
}

/** Returns the text that parseSealingKeys reads. */
export const formatSealingKeys = (keys: readonly SealingKey[]): string =>
  keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(',');

/**
 * Reads a tenant's data keys in the form of its Secret: `{"keys":[{"id","key": base64}, …]}`; the first seals. Throws SealError
 * that names no key.
 */
export function parseDataKeys(json: string): SealingKey[] {
  try {
    const { keys } = JSON.parse(json) as { keys: { id: string; key: string }[] };
    return parseKeys(keys.map(({ id, key }) => `${id}:${key}`).join(','), DATA_KEY_ID);
  } catch (error) {
    throw error instanceof SealError ? error : new SealError('the keys are not {"keys":[{"id","key"}]}');
  }
}
