/**
 * Runs `work` for each item, at most `most` at once. After the first failure it starts no more, waits for the running ones, and
 * throws that error.
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
