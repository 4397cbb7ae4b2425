import type { Tx } from '../store/postgres/database.ts';

/** A user as the rows of any feature name one. */
export interface UserRef {
  readonly id: number;
  readonly uuid: string;
}

/** A user who is about to be deleted. */
export interface RemovedUser extends UserRef {
  /** Who takes over what the user owns; undefined: it is deleted. */
  readonly newOwner: UserRef | undefined;
  /** Takes over what the user made or granted among other people's things. */
  readonly systemUser: UserRef;
}

/**
 * Deletes or hands over what the feature stores of a user. `tx` is the transaction that deletes the user, one of TaggedCache, so it may `invalidate`.
 * A Problem that it throws is the reply (507 `quota_exceeded` and 409 `name_conflict` if the new owner cannot take everything), and nothing changes.
 */
export type OnUserRemoved = (tx: Tx, user: RemovedUser) => Promise<void>;

/** What the features do when a user is deleted, in the order of the server's list of features. */
export class Offboarding {
  readonly #handlers: OnUserRemoved[] = [];

  register(handler: OnUserRemoved): void {
    this.#handlers.push(handler);
  }

  async run(tx: Tx, user: RemovedUser): Promise<void> {
    for (const handler of this.#handlers) await handler(tx, user);
  }
}
