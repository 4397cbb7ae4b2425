import { keyOf, type ObjectKey, parseKey } from '../../kube/object.ts';
import type { Store } from '../../kube/store.ts';
import type { Webhook } from '../kinds.ts';
import type { News } from '../news.ts';

interface Deps {
  readonly webhooks: Store<Webhook>;
  enqueue(key: ObjectKey): void;
}

/** News of endpoints whose resource is gone is kept no longer. */
const NOBODYS_AFTER = '1 hour';

/**
 * Hands to their controller the Webhooks of whose receivers there is news; its reconcile then reads the row.
 * What was read is deleted. News that is lost with a leader is not missed: the next one begins with a reconcile of every Webhook.
 */
export const webhookHealth = ({ webhooks, enqueue }: Deps): News<{ endpoint: string; reference: string }> => ({
  isWanted: () => webhooks.size > 0,
  select: 'SELECT endpoint, managed_ref AS reference FROM carrel.webhook_health',
  async hear(pool, rows) {
    const known = new Map<string, ObjectKey>();
    for (const { endpoint, reference } of rows) {
      const webhook = webhooks.get(parseKey(reference));
      // A tenant writes its own rows: that one names the Webhook of another says nothing.
      if (webhook?.status?.endpointId === endpoint) known.set(endpoint, keyOf(webhook));
    }
    // Deleted first: what becomes news while the controller looks is written anew.
    await pool.query(`DELETE FROM carrel.webhook_health WHERE endpoint = ANY ($1) OR noted_at < now() - interval '${NOBODYS_AFTER}'`, [
      [...known.keys()],
    ]);
    for (const key of known.values()) enqueue(key);
  },
});
