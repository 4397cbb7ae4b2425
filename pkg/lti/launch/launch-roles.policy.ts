import type { Role } from '../../api/actor.ts';

/**
 * The roles that a launch assigns: in the course, and in Carrel.
 *
 * Invariants:
 * - A launch makes nobody an administrator, whatever roles the LMS sends: administrators are appointed only in Carrel.
 * - Roles in the institution or the system do not count: a professor may attend another's course, and the LMS's administrator is
 *   not an administrator of Carrel.
 */

/** A role that a launch may assign. */
export type LaunchRole = Exclude<Role, 'admin'>;

/**
 * A context role in the notation of LTI Core 1.3, appendix A.2.3: `membership#Instructor`, its sub-roles
 * `membership/Instructor#TeachingAssistant`, or the bare name. The match is the principal role: `membership/Learner#Instructor`
 * is a learner.
 */
const CONTEXT_ROLE =
  /^(?:http:\/\/purl\.imsglobal\.org\/vocab\/lis\/v2\/membership(?:#|\/(?=[A-Za-z]+#)))?([A-Za-z]+)(?:#[A-Za-z]+)?$/;

const TEACHES = new Set(['Instructor', 'ContentDeveloper', 'Administrator', 'Manager']);
const LEARNS = new Set(['Learner', 'Member']);

export type CourseRole = 'instructor' | 'learner';

/** Returns the user's role in the course: teachers have write access, everyone else read access. */
export const courseRole = (roles: readonly string[]): CourseRole => (roles.some(isOneOf(TEACHES)) ? 'instructor' : 'learner');

/** Returns the Carrel role that the launch assigns; unknown roles become `viewer`. */
export function roleOf(roles: readonly string[]): LaunchRole {
  if (courseRole(roles) === 'instructor') return 'instructor';
  return roles.some(isOneOf(LEARNS)) ? 'member' : 'viewer';
}

const isOneOf =
  (names: ReadonlySet<string>) =>
  (role: string): boolean =>
    names.has(CONTEXT_ROLE.exec(role)?.[1] ?? '');

/** Maximum of roles per person in a list of members. */
const SHOWN_MAX = 20;
const MEMBERSHIP = 'http://purl.imsglobal.org/vocab/lis/v2/membership';

/**
 * Returns roles as a list of members shows them: URIs, sorted and without duplicates. A context role may be sent as its bare name
 * (LTI Core 1.3 §A.2.3).
 */
export const roleUris = (roles: readonly string[]): string[] => [...new Set(roles.map(uriOf))].toSorted().slice(0, SHOWN_MAX);

const uriOf = (role: string): string =>
  /^[A-Za-z]+(#[A-Za-z]+)?$/.test(role) ? `${MEMBERSHIP}${role.includes('#') ? '/' : '#'}${role}` : role;

/**
 * People with one of these roles may launch from a course without being a member: administrators of the LMS, and a teacher's
 * preview of the learners' view.
 */
export const OUTSIDERS: readonly string[] = [
  ...['SysAdmin', 'SysSupport', 'AccountAdmin', 'Administrator'].map(
    (name) => `http://purl.imsglobal.org/vocab/lis/v2/system/person#${name}`,
  ),
  'http://purl.imsglobal.org/vocab/lis/v2/institution/person#Administrator',
  'http://purl.imsglobal.org/vocab/lti/system/person#TestUser',
];
