import type { Sql } from '../../store/postgres/pool.ts';
import { FORMER_MS, type Keys, type RotationStep } from './rotation.policy.ts';
import type { ToolKey } from './tool-key.ts';

/** The tables of the keys of a schema's registrations. */
export interface KeyTables {
  readonly tools: string;
  readonly toolKeys: string;
}

/** A row that `spareKeys` reads; times are JSON text. */
export interface SpareKey {
  readonly kid: string;
  readonly publishedAt: string;
  readonly publishedUntil: string | null;
}

/** Returns an expression for a query over lti_tools `t`: all keys except the signing one. */
export const spareKeys = ({ toolKeys }: KeyTables): string =>
  `(SELECT coalesce(json_agg(json_build_object('kid', k.key_id, 'publishedAt', k.published_at,
     'publishedUntil', k.published_until)
      ORDER BY k.published_at, k.key_id), '[]') FROM ${toolKeys} k WHERE k.tool_id = t.id)`;

export function keysOf(current: Keys['current'], spare: readonly SpareKey[]): Keys {
  const next = spare.find(({ publishedUntil }) => publishedUntil === null);
  return {
    current,
    next: next && { kid: next.kid, publishedAt: new Date(next.publishedAt) },
    former: spare.flatMap(({ kid, publishedUntil }) => (publishedUntil === null ? [] : { kid, until: new Date(publishedUntil) })),
  };
}

/** Returns the ids of the keys that jwks.json contains now, the signing one first. */
export const publishedIds = ({ current, next, former }: Keys, now: Date): string[] => [
  ...(current ? [current.kid] : []),
  ...(next ? [next.kid] : []),
  ...former.flatMap(({ kid, until }) => (until > now ? kid : [])),
];

/**
 * Makes way for a key supplied by a person, which signs at once: the former key stays published for a while, the next one is
 * dropped.
 */
export async function replaceCurrent(tx: Sql, tables: KeyTables, reference: string, kid: string, now: Date): Promise<void> {
  await tx.query(
    `DELETE FROM ${tables.toolKeys} k USING ${tables.tools} t
     WHERE t.managed_ref = $1 AND k.tool_id = t.id AND (k.key_id = $2 OR k.published_until IS NULL)`,
    [reference, kid],
  );
  await retireCurrent(tx, tables, reference, kid, now);
}

/** Takes one step of the rotation; a step that another operator has taken meanwhile is not repeated. The tool's row is locked. */
export async function takeStep(
  tx: Sql,
  tables: KeyTables,
  reference: string,
  { action }: RotationStep,
  of: { keys: Keys; fresh: ToolKey | undefined; seal: (privateKey: string) => string; now: Date },
): Promise<void> {
  const { keys, fresh, now } = of;
  await tx.query(
    `DELETE FROM ${tables.toolKeys} k USING ${tables.tools} t WHERE t.managed_ref = $1 AND k.tool_id = t.id
       AND k.published_until <= $2`,
    [reference, now],
  );
  if (action === 'publish' && fresh) {
    await tx.query(
      `INSERT INTO ${tables.toolKeys} (tool_id, key_id, public_key, private_key, published_at)
       SELECT id, $2, $3, $4, $5 FROM ${tables.tools} WHERE managed_ref = $1 ON CONFLICT DO NOTHING`,
      [reference, fresh.kid, fresh.publicKey, of.seal(fresh.privateKey), now],
    );
  }
  if (action === 'discard') {
    await tx.query(
      `DELETE FROM ${tables.toolKeys} k USING ${tables.tools} t WHERE t.managed_ref = $1 AND k.tool_id = t.id
         AND k.published_until IS NULL`,
      [reference],
    );
  }
  if (action === 'sign' && keys.next) await promote(tx, tables, reference, keys.next.kid, now);
}

async function promote(tx: Sql, tables: KeyTables, reference: string, kid: string, now: Date): Promise<void> {
  const [next] = await tx.query<{ publicKey: string; privateKey: string }>(
    `DELETE FROM ${tables.toolKeys} k USING ${tables.tools} t
     WHERE t.managed_ref = $1 AND k.tool_id = t.id AND k.key_id = $2 AND k.published_until IS NULL
     RETURNING k.public_key AS "publicKey", k.private_key AS "privateKey"`,
    [reference, kid],
  );
  if (!next) return;
  await retireCurrent(tx, tables, reference, kid, now);
  await tx.query(
    `UPDATE ${tables.tools} SET key_id = $2, public_key = $3, private_key = $4, key_since = $5 WHERE managed_ref = $1`,
    [reference, kid, next.publicKey, next.privateKey, now],
  );
}

const retireCurrent = (tx: Sql, tables: KeyTables, reference: string, kid: string, now: Date): Promise<unknown> =>
  tx.query(
    `INSERT INTO ${tables.toolKeys} (tool_id, key_id, public_key, published_at, published_until)
     SELECT id, key_id, public_key, key_since, $3 FROM ${tables.tools}
     WHERE managed_ref = $1 AND key_id <> $2 AND public_key IS NOT NULL ON CONFLICT DO NOTHING`,
    [reference, kid, new Date(now.getTime() + FORMER_MS)],
  );
