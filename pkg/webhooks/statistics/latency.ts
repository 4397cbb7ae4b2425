/**
 * Latencies of receivers, as counts by bucket. Bucket 0 ends at 1 ms, each further one at √2 times the end of the one before, and
 * the last at 65 s. So a quantile is known to within 20 %.
 */
export const LATENCY_BUCKETS = 33;

const endOf = (bucket: number): number => 2 ** (bucket / 2);

/** Returns the bucket of a time in ms; the last one takes longer times too. */
export const bucketOf = (ms: number): number => (ms <= 1 ? 0 : Math.min(LATENCY_BUCKETS - 1, Math.ceil(2 * Math.log2(ms))));

/** Returns a quantile in whole ms, at least 1, assuming an even spread within a bucket. Returns null if nothing was counted. */
export function quantile(counts: readonly number[], share: number): number | null {
  const wanted = counts.reduce((sum, count) => sum + count, 0) * share;
  if (wanted === 0) return null;
  let below = 0;
  for (const [bucket, count] of counts.entries()) {
    if (below + count >= wanted) {
      const begin = bucket === 0 ? 0 : endOf(bucket - 1);
      return Math.max(1, Math.round(begin + ((endOf(bucket) - begin) * (wanted - below)) / count));
    }
    below += count;
  }
  return Math.round(endOf(counts.length - 1));
}
