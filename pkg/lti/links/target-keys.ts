import type { Random } from '../../runtime/random.ts';
import { SealError, type Sealer } from '../../runtime/sealing.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { TargetKey } from './placed-target.policy.ts';

const SECRET_BYTES = 32;
const ID_BYTES = 6;

/**
 * The tenant's keys for the targets of placed links. They are rows of their own, sealed by the data key: a link lives for years,
 * a data key until its next rotation.
 *
 * Invariants:
 * - A key signs from its beginning on, until a newer one does, and verifies until its row is deleted. Of two servers that make
 *   the first one at once, both keys verify.
 * - Whoever reads the row alone can sign nothing.
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

  /** The key that signs; made where there is none. One statement, or two. */
  async current(sql: Pick<Sql, 'query'>): Promise<TargetKey> {
    const [row] = await sql.query<KeyRow>('SELECT id, secret FROM lti_link_keys ORDER BY created_at DESC, id DESC LIMIT 1');
    const key = row && this.#opened(row);
    return key ?? this.create(sql);
  }

  /** Undefined: there is no such key, or no data key opens it. One statement. */
  async find(sql: Pick<Sql, 'query'>, id: string): Promise<TargetKey | undefined> {
    const [row] = await sql.query<KeyRow>('SELECT id, secret FROM lti_link_keys WHERE id = $1', [id]);
    return row && this.#opened(row);
  }

  /** A new key, which signs from now on. One statement. */
  async create(sql: Pick<Sql, 'query'>): Promise<TargetKey> {
    const key = { id: this.#random.hex(ID_BYTES), secret: this.#random.bytes(SECRET_BYTES) };
    const sealed = this.#sealer.seal(key.secret.toString('base64url'), linkKeyAssociatedData(this.#tenantId, key.id));
    await sql.query('INSERT INTO lti_link_keys (id, secret) VALUES ($1, $2)', [key.id, sealed]);
    return key;
  }

  /** The one that signs first. One statement. */
  list(sql: Pick<Sql, 'query'>): Promise<ListedKey[]> {
    return sql.query<ListedKey>(
      `SELECT y.id, y.created_at AS "createdAt", (SELECT count(*)::int FROM lti_resource_links k WHERE k.key_id = y.id) AS links
       FROM lti_link_keys y ORDER BY y.created_at DESC, y.id DESC`,
    );
  }

  /** Deletes a key that does not sign. Two statements, in a transaction. */
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
  /** Links that were opened, and whose target it signed. */
  readonly links: number;
}

interface KeyRow {
  readonly id: string;
  readonly secret: string;
}

/** Associated data of a sealed key for targets. */
export const linkKeyAssociatedData = (tenantId: string, id: string): string[] => [tenantId, 'lti_link_keys', id, 'secret'];
