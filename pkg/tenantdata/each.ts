/**
 * Runs `work` for each item, at most `most` at once. The first that fails ends it, once the others that run have ended; that
 * error is thrown.
 */
export async function forEach<T>(items: AsyncIterable<T>, most: number, work: (item: T) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const item of items) {
    const task = work(item)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(task));
    running.add(task);
    if (running.size >= most) await Promise.race(running);
    if (failures.length > 0) break;
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
