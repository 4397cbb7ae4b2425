import type { RosterSkipReason } from '../../tasks/tasks.schema.ts';
import { ASCII_ID, nameOf, storable } from '../launch/id-token.ts';
import { emailOf } from '../launch/profile.ts';
import { courseRole, type CourseRole, roleUris } from '../launch/launch-roles.policy.ts';
import { membersOf } from '../line-items/lms-line-item.ts';

/** An entry of a roster, by the columns of lti_roster_entries. */
export interface RosterMember {
  readonly subject: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly roles: readonly string[];
  readonly role: CourseRole;
  readonly is_active: boolean;
}

/**
 * A person of a roster (NRPS 2.0 §2.3). Who has no id of their own is nobody: the reason. What else is odd is left out, so that
 * nobody loses a course since the LMS writes something about them in another way. Only `Active`, in any case of letters, is in
 * the course, and so is whose status is not said.
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

/** Some write one role without a list, or several with commas between them. */
function rolesOf(said: unknown): string[] {
  const all: unknown[] = typeof said === 'string' ? said.split(',').map((role) => role.trim()) : Array.isArray(said) ? said : [];
  return all.map((role) => storable(role)).filter((role) => role !== '');
}
