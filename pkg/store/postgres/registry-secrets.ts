import { SealError, type Sealer } from '../../runtime/sealing.ts';
import type { Sql, Transactions } from './pool.ts';
import type { CredentialName } from './registered-tenant.ts';

export interface RotationStep {
  readonly from: string | null;
  readonly to: string | null;
  /** True if this step made the newest value. */
  readonly isNew: boolean;
  readonly value?: { readonly secret: string; readonly change: (value: string) => string | Promise<string> };
}

/** The registry's sealed copies of secrets generated for tenants. */
export class RegistrySecrets {
  readonly #pool: Transactions;
  readonly #sealer: Sealer;

  constructor({ pool, sealer }: { pool: Transactions; sealer: Sealer }) {
    this.#pool = pool;
    this.#sealer = sealer;
  }

  /**
   * Returns the secret of this name; the first call stores the one that `generate` returns, in one statement. Concurrent callers
   * get the same one. Throws SealError.
   */
  async ensure(tenantId: string, name: string, generate: () => string | Promise<string>): Promise<string> {
    const value = await generate();
    const made = await this.#pool.query(
      'INSERT INTO registry.secrets (tenant_id, name, sealed) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING name',
      [tenantId, name, this.#sealer.seal(value, associatedDataOf(tenantId, name))],
    );
    if (made.length > 0) return value;
    return (await this.get(tenantId, name)) ?? this.ensure(tenantId, name, generate);
  }

  /** Returns the opened secret; null if there is none. Throws SealError. */
  async get(tenantId: string, name: string): Promise<string | null> {
    const [row] = await this.#pool.query<{ sealed: string }>(
      'SELECT sealed FROM registry.secrets WHERE tenant_id = $1 AND name = $2',
      [tenantId, name],
    );
    return row ? this.#sealer.open(row.sealed, associatedDataOf(tenantId, name)) : null;
  }

  async set(sql: Sql, tenantId: string, name: string, value: string): Promise<void> {
    await sql.query(
      `INSERT INTO registry.secrets (tenant_id, name, sealed) VALUES ($1, $2, $3)
       ON CONFLICT (tenant_id, name) DO UPDATE SET sealed = excluded.sealed, updated_at = now()`,
      [tenantId, name, this.#sealer.seal(value, associatedDataOf(tenantId, name))],
    );
  }

  /**
   * Takes a credential from one step of its rotation to the next. `change` makes its new value from the one under the name
   * `secret`, if it has one. Both are written at once. `isNew`: this step made the newest value. Returns false, and changes
   * nothing, if the credential was already at another step or lacks its value.
   */
  async rotate(tenantId: string, name: CredentialName, step: RotationStep): Promise<boolean> {
    return this.#pool.transaction(async (tx) => {
      await tx.query('SELECT FROM registry.tenants WHERE id = $1 FOR UPDATE', [tenantId]);
      const [now] = await tx.query<{ step: string | null }>(
        'SELECT step FROM registry.credentials WHERE tenant_id = $1 AND name = $2',
        [tenantId, name],
      );
      if ((now?.step ?? null) !== step.from) return false;
      if (step.value && !(await this.#changeSecret(tx, tenantId, step.value))) return false;
      await tx.query(
        `INSERT INTO registry.credentials (tenant_id, name, changed_at, step, step_at, generation)
         VALUES ($1, $2, now(), $3, now(), $4::boolean::int)
         ON CONFLICT (tenant_id, name) DO UPDATE
         SET step = excluded.step, step_at = now(), changed_at = CASE WHEN $4 THEN now() ELSE credentials.changed_at END,
           generation = credentials.generation + excluded.generation`,
        [tenantId, name, step.to, step.isNew],
      );
      return true;
    });
  }

  async #changeSecret(tx: Sql, tenantId: string, { secret, change }: NonNullable<RotationStep['value']>): Promise<boolean> {
    const [row] = await tx.query<{ sealed: string }>('SELECT sealed FROM registry.secrets WHERE tenant_id = $1 AND name = $2', [
      tenantId,
      secret,
    ]);
    if (!row) return false;
    await this.set(tx, tenantId, secret, await change(this.#sealer.open(row.sealed, associatedDataOf(tenantId, secret))));
    return true;
  }

  /**
   * Reseals values of older keys, after a rotation of the platform key. Safe to stop and to repeat. `unopenable`: values that no
   * key opens.
   */
  async resealAll(): Promise<{ resealed: number; unopenable: number }> {
    const rows = await this.#pool.query<{ tenantId: string; name: string; sealed: string }>(
      'SELECT tenant_id::text AS "tenantId", name, sealed FROM registry.secrets',
    );
    let [resealed, unopenable] = [0, 0];
    for (const { tenantId, name, sealed } of rows.filter((row) => this.#sealer.isStale(row.sealed))) {
      const opened = this.open(tenantId, name, sealed);
      if (opened === undefined) unopenable += 1;
      else {
        // Only if no newer value was written meanwhile.
        await this.#pool.query('UPDATE registry.secrets SET sealed = $4 WHERE tenant_id = $1 AND name = $2 AND sealed = $3', [
          tenantId,
          name,
          sealed,
          this.#sealer.seal(opened, associatedDataOf(tenantId, name)),
        ]);
        resealed += 1;
      }
    }
    return { resealed, unopenable };
  }

  /** Returns undefined if no key opens it. */
  open(tenantId: string, name: string, sealed: string): string | undefined {
    try {
      return this.#sealer.open(sealed, associatedDataOf(tenantId, name));
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }
}

const associatedDataOf = (tenantId: string, name: string): string[] => [tenantId, 'registry.secrets', name, 'sealed'];
