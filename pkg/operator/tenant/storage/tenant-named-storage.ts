import { MARKER_KEY } from '../../../store/s3/content-key.ts';
import { markerOf } from '../../../store/s3/owner-marker.ts';
import { CONTENT_KEY_PREFIX, isContentKey } from '../../../store/s3/content-key.ts';
import { Objects, type ObjectsOptions } from '../../../store/s3/objects.ts';

const KEYS_AT_ONCE = 1_000;

/** `left`: no marker says that the location is the tenant's, so nothing was deleted. */
export type Removal = 'gone' | 'more' | 'left';

/**
 * Deletes a tenant's contents and unfinished uploads in storage that it named, its marker last. The bucket and objects whose key
 * Carrel did not create stay. Call again while it returns `more`. Every page and every request counts against the time of a call.
 * Throws StoreUnavailableError, what the store refuses with, and the signal's reason.
 */
export async function removeNamedObjects(
  options: ObjectsOptions & { readonly marker: string },
  { budgetMs, signal }: { readonly budgetMs: number; readonly signal: AbortSignal },
): Promise<Removal> {
  const budget = AbortSignal.timeout(budgetMs);
  const whole = new Objects(options);
  const objects = whole.until(AbortSignal.any([signal, budget]));
  try {
    if ((await markerOf(objects)) !== options.marker) return (await isCleared(objects)) ? 'gone' : 'left';
    await objects.abandonUploads(CONTENT_KEY_PREFIX);
    let batch: string[] = [];
    for await (const { key } of objects.list({ prefix: CONTENT_KEY_PREFIX })) {
      if (!isContentKey(key) || batch.push(key) < KEYS_AT_ONCE) continue;
      await objects.delete(batch);
      batch = [];
    }
    if (batch.length > 0) await objects.delete(batch);
    await objects.delete([MARKER_KEY]);
    return 'gone';
  } catch (error) {
    if (budget.aborted && !signal.aborted) return 'more';
    throw error;
  } finally {
    whole.close();
  }
}

async function isCleared(objects: Objects): Promise<boolean> {
  for await (const { key } of objects.list({ prefix: CONTENT_KEY_PREFIX })) if (isContentKey(key)) return false;
  return true;
}
