import type { RosterSkipReason } from '../../tasks/tasks.schema.ts';
import { ASCII_ID, nameOf, storable } from '../launch/id-token.ts';
import { emailOf } from '../launch/profile.ts';
import { courseRole, type CourseRole, roleUris } from '../launch/launch-roles.policy.ts';
import { membersOf } from '../line-items/lms-line-item.ts';

/** An entry of a roster, with the columns of lti_roster_entries. */
export interface RosterMember {
  readonly subject: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly roles: readonly string[];
  readonly role: CourseRole;
  readonly is_active: boolean;
}

/**
 * Reads a person of a roster (NRPS 2.0 §2.3). Returns the reason if the entry has no valid id. Ignores other invalid values, so
 * that nobody loses a course because the LMS writes a detail differently. Only people with the status `Active`, in any case, or
 * without a status are in the course.
 */
export function memberOf(entry: unknown): RosterMember | RosterSkipReason {
  const said = membersOf(entry);
  if (!said) return 'no_object';
  const { user_id: id, status } = said;
  const subject = typeof id === 'number' ? String(id) : id;
  if (subject === undefined || subject === null || subject === '') return 'no_user_id';
  if (typeof subject !== 'string' || !ASCII_ID.test(subject)) return 'user_id_invalid';
  const roles = roleUris(rolesOf(said['roles']));
  return {
    subject,
    name: nameOf(said) ?? null,
    email: emailOf(said['email']) ?? null,
    roles,
    role: courseRole(roles),
    is_active:
      status === undefined ||
      status === null ||
      status === '' ||
      (typeof status === 'string' && status.toLowerCase() === 'active'),
  };
}

/** Some LMSs write one role without a list, or several separated by commas. */
function rolesOf(said: unknown): string[] {
  const all: unknown[] = typeof said === 'string' ? said.split(',').map((role) => role.trim()) : Array.isArray(said) ? said : [];
  return all.map((role) => storable(role)).filter((role) => role !== '');
}
