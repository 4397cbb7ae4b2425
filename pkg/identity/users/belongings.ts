import type { Tx } from '../../store/postgres/database.ts';

/** A user as other rooms' rows name one. */
export interface UserRef {
  readonly id: number;
  readonly uuid: string;
}

/** What a user owns, for when the user goes. Content implements it; `tx` is one of GenerationCache, so it may `touch`. */
export interface UserBelongings {
  /** Hands files and folders over, quota included. Throws a Problem (507 `quota_exceeded`, 409 `name_conflict`) when that cannot be. */
  transfer(tx: Tx, from: UserRef, to: UserRef): Promise<void>;
  /** Deletes what the user still owns (objects are purged by work of this transaction); what the user made or granted elsewhere passes to the system user. */
  remove(tx: Tx, user: UserRef, systemUserId: number): Promise<void>;
}
