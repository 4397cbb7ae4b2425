import type { Role } from '../../api/actor.ts';

/**
 * A context role, as LTI Core 1.3, appendix A.2.3 writes it: `membership#Instructor`, its sub-roles `membership/Instructor#TeachingAssistant`,
 * and the bare name. The result is the principal role: `membership/Learner#Instructor` is a learner.
 */
const CONTEXT_ROLE = /^(?:http:\/\/purl\.imsglobal\.org\/vocab\/lis\/v2\/membership(?:#|\/(?=[A-Za-z]+#)))?([A-Za-z]+)(?:#[A-Za-z]+)?$/;

const TEACHES = new Set(['Instructor', 'ContentDeveloper', 'Administrator', 'Manager']);
const LEARNS = new Set(['Learner', 'Member']);

export type CourseRole = 'instructor' | 'learner';

/**
 * The user's role in the course: those who teach have write access, everybody else read access.
 * Roles in the institution or the system do not count: a professor may attend another's course, and the LMS's administrator is not one of Carrel.
 */
export const courseRole = (roles: readonly string[]): CourseRole => (roles.some(isOneOf(TEACHES)) ? 'instructor' : 'learner');

/** The Carrel role that the launch gives. Unknown roles give viewer; no launch gives admin. */
export function roleOf(roles: readonly string[]): Role {
  if (courseRole(roles) === 'instructor') return 'instructor';
  return roles.some(isOneOf(LEARNS)) ? 'member' : 'viewer';
}

const isOneOf =
  (names: ReadonlySet<string>) =>
  (role: string): boolean =>
    names.has(CONTEXT_ROLE.exec(role)?.[1] ?? '');
