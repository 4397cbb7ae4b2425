import type { Random } from '../../runtime/random.ts';
import { SealError, type Sealer } from '../../runtime/sealing.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { TargetKey } from './placed-target.policy.ts';

const SECRET_BYTES = 32;
const ID_BYTES = 6;

/**
 * The tenant's keys for the targets of placed links. They are separate rows, sealed by the data key, because a link lives for
 * years but a data key only until its next rotation.
 *
 * Invariants:
 * - A key signs from its creation until a newer one exists, and verifies until its row is deleted. If two servers create the
 *   first one at once, both keys verify.
 * - A reader of only the row can sign nothing.
 */
export class TargetKeys {
  readonly #sealer: Sealer;
  readonly #random: Random;
  readonly #tenantId: string;

  constructor(deps: { sealer: Sealer; random: Random; tenantId: string }) {
    this.#sealer = deps.sealer;
    this.#random = deps.random;
    this.#tenantId = deps.tenantId;
  }

  /** Returns the signing key, and creates it if there is none. One statement, or two. */
  async current(sql: Pick<Sql, 'query'>): Promise<TargetKey> {
    const [row] = await sql.query<KeyRow>('SELECT id, secret FROM lti_link_keys ORDER BY created_at DESC, id DESC LIMIT 1');
    const key = row && this.#opened(row);
    return key ?? this.create(sql);
  }

  /** Returns undefined if the key does not exist or no data key opens it. One statement. */
  async find(sql: Pick<Sql, 'query'>, id: string): Promise<TargetKey | undefined> {
    const [row] = await sql.query<KeyRow>('SELECT id, secret FROM lti_link_keys WHERE id = $1', [id]);
    return row && this.#opened(row);
  }

  /** Creates a new key, which signs from now on. One statement. */
  async create(sql: Pick<Sql, 'query'>): Promise<TargetKey> {
    const key = { id: this.#random.hex(ID_BYTES), secret: this.#random.bytes(SECRET_BYTES) };
    const sealed = this.#sealer.seal(key.secret.toString('base64url'), linkKeyAssociatedData(this.#tenantId, key.id));
    await sql.query('INSERT INTO lti_link_keys (id, secret) VALUES ($1, $2)', [key.id, sealed]);
    return key;
  }

  /** Returns the keys, the signing one first. One statement. */
  list(sql: Pick<Sql, 'query'>): Promise<ListedKey[]> {
    return sql.query<ListedKey>(
      `SELECT y.id, y.created_at AS "createdAt", (SELECT count(*)::int FROM lti_resource_links k WHERE k.key_id = y.id) AS links
       FROM lti_link_keys y ORDER BY y.created_at DESC, y.id DESC`,
    );
  }

  /** Deletes a key that is not the signing one. Two statements, in a transaction. */
  async withdraw(sql: Pick<Sql, 'query'>, id: string): Promise<{ readonly links: number } | 'unknown' | 'signs'> {
    const keys = await this.list(sql);
    const key = keys.find((one) => one.id === id);
    if (!key) return 'unknown';
    if (key === keys[0]) return 'signs';
    await sql.query('DELETE FROM lti_link_keys WHERE id = $1', [id]);
    return { links: key.links };
  }

  #opened({ id, secret }: KeyRow): TargetKey | undefined {
    try {
      return { id, secret: Buffer.from(this.#sealer.open(secret, linkKeyAssociatedData(this.#tenantId, id)), 'base64url') };
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }
}

interface ListedKey {
  readonly id: string;
  readonly createdAt: Date;
  /** Number of opened links whose target it signed. */
  readonly links: number;
}

interface KeyRow {
  readonly id: string;
  readonly secret: string;
}

/** Associated data of a sealed key for targets. */
export const linkKeyAssociatedData = (tenantId: string, id: string): string[] => [tenantId, 'lti_link_keys', id, 'secret'];
