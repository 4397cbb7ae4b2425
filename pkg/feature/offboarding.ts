import type { Tx } from '../store/postgres/database.ts';

/** A user, as rows of any feature refer to one. */
export interface UserRef {
  readonly id: number;
  readonly uuid: string;
}

/** A user who is about to be deleted. */
export interface RemovedUser extends UserRef {
  /** The new owner of the user's content; undefined: the content is deleted. */
  readonly newOwner: UserRef | undefined;
  /** Replaces the user as creator or granter in other users' content. */
  readonly systemUser: UserRef;
}

/**
 * Deletes or transfers what the feature stores of a user. `tx` is the transaction of TaggedCache that deletes the user, so it may
 * `invalidate`. A Problem that this throws becomes the reply and nothing changes: 507 `quota_exceeded` and 409 `name_conflict` if
 * the new owner cannot receive everything.
 */
export type OnUserRemoved = (tx: Tx, user: RemovedUser) => Promise<void>;

/** The features' steps when a user is deleted, in the order of the server's list of features. */
export class Offboarding {
  readonly #handlers: OnUserRemoved[] = [];

  register(handler: OnUserRemoved): void {
    this.#handlers.push(handler);
  }

  async run(tx: Tx, user: RemovedUser): Promise<void> {
    for (const handler of this.#handlers) await handler(tx, user);
  }
}
