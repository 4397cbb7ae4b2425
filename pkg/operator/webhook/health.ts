import { keyOf, type ObjectKey, parseKey } from '../../kube/object.ts';
import type { Store } from '../../kube/store.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { SqlPool } from '../../store/postgres/pool.ts';
import type { Webhook } from '../kinds.ts';
import type { Shards } from '../shards.ts';

interface Deps {
  readonly shards: Shards;
  readonly webhooks: Store<Webhook>;
  enqueue(key: ObjectKey): void;
  readonly clock: Clock;
  readonly log: Logger;
}

const LOOK_EVERY_MS = 5_000;
/** News of endpoints whose resource is gone is kept no longer. */
const NOBODYS_AFTER = '1 hour';

/**
 * Hands to their controller the Webhooks of whose receivers there is news, until the signal is aborted; its reconcile then reads the row.
 *
 * - A look is one SELECT a shard, none while there is no Webhook. What was read is deleted, so at rest nothing is written.
 * - News that is lost with a leader is not missed: the next one begins with a reconcile of every Webhook.
 */
export async function followHealth(deps: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await deps.clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
    if (signal.aborted || deps.webhooks.size === 0) continue;
    for (const name of deps.shards.names) {
      try {
        await look((await deps.shards.open(name)).pool, deps);
      } catch (error) {
        deps.log.debug({ err: error, shard: name }, 'news of webhooks is read at the next look');
      }
    }
  }
}

async function look(pool: SqlPool, { webhooks, enqueue }: Deps): Promise<void> {
  const news = await pool.query<{ endpoint: string; reference: string }>(
    'SELECT endpoint, managed_ref AS reference FROM carrel.webhook_health',
  );
  if (news.length === 0) return;
  const known = new Map<string, ObjectKey>();
  for (const { endpoint, reference } of news) {
    const webhook = webhooks.get(parseKey(reference));
    // A tenant writes its own rows: that one names the Webhook of another says nothing.
    if (webhook?.status?.endpointId === endpoint) known.set(endpoint, keyOf(webhook));
  }
  // Deleted first: what becomes news while the controller looks is written anew.
  await pool.query(`DELETE FROM carrel.webhook_health WHERE endpoint = ANY ($1) OR noted_at < now() - interval '${NOBODYS_AFTER}'`, [
    [...known.keys()],
  ]);
  for (const key of known.values()) enqueue(key);
}
