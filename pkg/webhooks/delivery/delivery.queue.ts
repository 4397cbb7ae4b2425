import { perShard, type RowQueue } from '../../events/processor.ts';
import { DeliveryHandler } from './delivery-handler.ts';
import { type Delivery, DeliveryStore } from './delivery-store.ts';
import { deliveryMetrics } from './delivery-metrics.ts';

/** Attempts of one worker at once. A stalled receiver holds a slot until its time-out, so there are many slots. */
const CONCURRENCY = 512;

interface DeliverySettings {
  /** Longest time that a receiver may take to accept a delivery and answer. */
  readonly timeoutMs: number;
  /** Waits between attempts. */
  readonly retrySeconds: readonly number[];
}

/**
 * The deliveries of all tenants' webhooks. Stalled receivers hold slots, so one tenant gets few of them, and one of its webhooks
 * not all of those.
 */
export const deliveryQueue = (settings: DeliverySettings): RowQueue<Delivery> => ({
  name: 'deliveries',
  perTenant: 10,
  perLane: 8,
  // Fewer than 32 tenants have rows ahead at a time, and a row carries at most 8 KiB: 16 MiB.
  ahead: 64,
  concurrency: CONCURRENCY,
  create: (services) => {
    const stores = perShard(services, ({ leasePool }) => new DeliveryStore(leasePool, services.clock));
    const metrics = deliveryMetrics(
      services.metrics,
      perShard(services, ({ db }) => new DeliveryStore(db, services.clock)),
    );
    return new Map(
      [...stores].map(([shard, store]) => {
        const db = services.shards.get(shard)?.db;
        if (!db) throw new Error(`there is no shard ${shard}`);
        return [shard, new DeliveryHandler({ ...services, ...settings, metrics, store, db })];
      }),
    );
  },
});
