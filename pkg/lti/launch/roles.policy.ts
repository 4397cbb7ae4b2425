import type { Role } from '../../api/actor.ts';

/**
 * A context role, as LTI Core 1.3, appendix A.2.3 writes it: `membership#Instructor`, its sub-roles `membership/Instructor#TeachingAssistant`,
 * and the bare name. What comes out is the principal role: `membership/Learner#Instructor` is a learner.
 */
const CONTEXT_ROLE = /^(?:http:\/\/purl\.imsglobal\.org\/vocab\/lis\/v2\/membership(?:#|\/(?=[A-Za-z]+#)))?([A-Za-z]+)(?:#[A-Za-z]+)?$/;

const TEACHES = new Set(['Instructor', 'ContentDeveloper', 'Administrator', 'Manager']);
const LEARNS = new Set(['Learner', 'Member']);

export type CourseRole = 'instructor' | 'learner';

/**
 * Which role a person has in the course: who teaches writes, everybody else reads.
 * Roles in the institution or the system do not count: a professor may sit in another's course, and the LMS's administrator is not ours.
 */
export const courseRole = (roles: readonly string[]): CourseRole => (roles.some(isOneOf(TEACHES)) ? 'instructor' : 'learner');

/** Which role of ours the launch gives. Roles that nobody knows make a viewer; no launch makes an administrator. */
export function roleOf(roles: readonly string[]): Role {
  if (courseRole(roles) === 'instructor') return 'instructor';
  return roles.some(isOneOf(LEARNS)) ? 'member' : 'viewer';
}

const isOneOf =
  (names: ReadonlySet<string>) =>
  (role: string): boolean =>
    names.has(CONTEXT_ROLE.exec(role)?.[1] ?? '');
