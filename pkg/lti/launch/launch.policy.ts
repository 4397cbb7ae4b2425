import type { Actor } from '../../api/actor.ts';
import type { CourseRole } from './launch-roles.policy.ts';

/*
 * Rules on who may see a launch and grade in its course. `courseRole` is the actor's role in the course of the launch; null if
 * they have none.
 */

/** Administrators and instructors of the course see its launches; everyone sees their own. */
export const maySeeLaunch = (
  actor: Pick<Actor, 'userId' | 'roles'>,
  launch: { readonly userId: number | null; readonly courseRole: CourseRole | 'member' | null },
): boolean => launch.userId === actor.userId || mayGrade(actor, launch.courseRole);

/** Administrators and instructors of the course give and see grades. */
export const mayGrade = (actor: Pick<Actor, 'roles'>, courseRole: CourseRole | 'member' | null): boolean =>
  courseRole === 'instructor' || actor.roles.includes('admin');
