import type { Permission } from '../../api/operations.generated.ts';

/**
 * Changes of grants, those of one grant one after the other.
 *
 * Invariant: a change names the entity tag that the change before it led to, also while the list shows the grant as it was.
 */
export class GrantQueue {
  /** What a grant with this entity tag has become here. */
  readonly #newer = new Map<string, Permission>();
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Returns a grant of the list as the last change here has left it. */
  latest(grant: Permission): Permission {
    let latest = grant;
    for (let next: Permission | undefined = grant; next; next = this.#newer.get(latest.etag)) latest = next;
    return latest;
  }

  /** Runs a change when those of the same grant before it have ended. `work` returns the grant, unless it takes it back. */
  run(grant: Permission, work: (grant: Permission) => Promise<Permission | undefined>): Promise<void> {
    const next = (this.#tails.get(grant.id) ?? Promise.resolve()).then(async () => {
      const before = this.latest(grant);
      const after = await work(before);
      if (!after) return;
      this.#newer.set(before.etag, after);
      // A grant that is as it once was has its tag of then.
      this.#newer.delete(after.etag);
    });
    this.#tails.set(
      grant.id,
      next.catch(() => undefined),
    );
    return next;
  }
}
