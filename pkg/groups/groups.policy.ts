import type { Actor } from '../api/actor.ts';
import { Problem } from '../api/problem.ts';

/** Lengths in characters. */
export const GROUP_NAME_MAX = 100;
export const GROUP_DESCRIPTION_MAX = 1_000;

/** Where a group comes from. */
export interface GroupOrigin {
  /** The course of an LMS that a launch made it for; null: people made it. */
  readonly contextId: string | null;
  /** Whether that LMS is registered. */
  readonly isRegistered: boolean;
}

export const kindOf = ({ contextId }: Pick<GroupOrigin, 'contextId'>): 'manual' | 'course' =>
  contextId === null ? 'manual' : 'course';

/** Who alone may change it. A course whose LMS is no longer registered is the administrators'. */
export const managerOf = ({ contextId, isRegistered }: GroupOrigin): 'lti' | null =>
  contextId !== null && isRegistered ? 'lti' : null;

/** Throws `managed`. */
export function requireManual(group: GroupOrigin): void {
  if (managerOf(group) === 'lti')
    throw new Problem('managed', 'The LMS manages this group: its members are those of the course.');
}

/** Administrators see every group, others those that they are in. */
export const seesAllGroups = (actor: Pick<Actor, 'permissions'>): boolean => actor.permissions.has('read:groups');

/** E-mail addresses of members are shown to whoever may list users. */
export const seesAddresses = (actor: Pick<Actor, 'permissions'>): boolean => actor.permissions.has('read:users');
