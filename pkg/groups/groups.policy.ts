import type { Actor } from '../api/actor.ts';
import { Problem } from '../api/problem.ts';

/** Lengths in characters. */
export const GROUP_NAME_MAX = 100;
export const GROUP_DESCRIPTION_MAX = 1_000;

/** The origin of a group. */
export interface GroupOrigin {
  /** The LMS course for which a launch made the group; null if people made it. */
  readonly contextId: string | null;
  /** Whether that LMS is registered. */
  readonly isRegistered: boolean;
}

export const kindOf = ({ contextId }: Pick<GroupOrigin, 'contextId'>): 'manual' | 'course' =>
  contextId === null ? 'manual' : 'course';

/** Returns who alone may change the group. Administrators manage the group of a course whose LMS is no longer registered. */
export const managerOf = ({ contextId, isRegistered }: GroupOrigin): 'lti' | null =>
  contextId !== null && isRegistered ? 'lti' : null;

/** Throws `managed` if the LMS manages the group. */
export function requireManual(group: GroupOrigin): void {
  if (managerOf(group) === 'lti')
    throw new Problem('managed', 'The LMS manages this group: its members are those of the course.');
}

/** Administrators see every group; others see their own groups. */
export const seesAllGroups = (actor: Pick<Actor, 'permissions'>): boolean => actor.permissions.has('read:groups');

/** Callers who may list users see members' e-mail addresses. */
export const seesAddresses = (actor: Pick<Actor, 'permissions'>): boolean => actor.permissions.has('read:users');
