import { keyOf, type ObjectKey, parseKey } from '../../kube/object.ts';
import type { Store } from '../../kube/store.ts';
import type { Webhook } from '../kinds.ts';
import type { ShardChanges } from '../shard-changes.ts';

interface Deps {
  readonly webhooks: Store<Webhook>;
  enqueue(key: ObjectKey): void;
}

/** A change of an endpoint whose resource no longer exists expires after this. */
const NOBODYS_AFTER = '1 hour';

/**
 * Enqueues the Webhooks whose receivers' health changed; their reconcile reads the row. Changes are deleted when they are read:
 * one that is lost with a leader is not missed, since the next leader begins with a reconcile of every Webhook.
 */
export const webhookHealth = ({ webhooks, enqueue }: Deps): ShardChanges<{ endpoint: string; reference: string }> => ({
  isWanted: () => webhooks.size > 0,
  select: 'SELECT endpoint, managed_ref AS reference FROM carrel.webhook_health',
  async onChange(pool, rows) {
    const known = new Map<string, ObjectKey>();
    for (const { endpoint, reference } of rows) {
      const webhook = webhooks.get(parseKey(reference));
      // A tenant writes its own rows: that one names the Webhook of another says nothing.
      if (webhook?.status?.endpointId === endpoint) known.set(endpoint, keyOf(webhook));
    }
    // Deleted first: a change during the reconcile is written again.
    await pool.query(
      `DELETE FROM carrel.webhook_health WHERE endpoint = ANY ($1) OR noted_at < now() - interval '${NOBODYS_AFTER}'`,
      [[...known.keys()]],
    );
    for (const key of known.values()) enqueue(key);
  },
});
