import type { LinkState } from './link-state.ts';

/**
 * The one catalogue of reasons why a placed link opens no file, with what a person can do about it. docs/connect-an-lms.md lists
 * the codes.
 */
export const LINK_PROBLEMS = {
  target_malformed: 'The target of this link (custom parameter carrel_target) was changed in the LMS. Add the link again.',
  target_altered: 'The target of this link (custom parameter carrel_target) was changed in the LMS. Add the link again.',
  target_key_unknown: 'This link was placed by another service, or its key was withdrawn. Add the link again.',
  target_foreign: 'This link was placed by another registration of the LMS. Add the link again in this course.',
  link_of_other_course:
    'This link was placed in another course. It works here once an instructor of both courses has opened a link here, ' +
    'or after it is placed again.',
  link_not_member: 'You are no longer a member of this course. Open the link in your course again.',
  link_file_gone: 'The file of this link was deleted for good. Add a link to another file.',
  link_file_trashed: 'The file of this link is in the trash. Its owner can restore it; then the link works again.',
  link_maker_gone:
    'The account of whoever placed this link was deleted or deactivated. Another instructor can place the link again.',
  link_maker_lost_right:
    'Whoever placed this link may no longer share its file. Somebody who may share it can place the link again.',
} as const;

export type LinkProblemCode = keyof typeof LINK_PROBLEMS;
export const LINK_PROBLEM_CODES = Object.keys(LINK_PROBLEMS) as LinkProblemCode[];

/**
 * Returns why the link does not let the person read its file; undefined if it does. The person who placed the link must still be
 * able to grant that right: as an admin of the file with the permission to share, or, for a file in the folder of the course that
 * the link was placed in, as an instructor of that course.
 */
export function problemOfLink(state: LinkState): LinkProblemCode | undefined {
  if (state.fault !== null) return state.fault;
  if (!state.isOfCourse) return 'link_of_other_course';
  if (!state.isMember) return 'link_not_member';
  if (!state.file) return 'link_file_gone';
  if (state.file.isTrashed) return 'link_file_trashed';
  if (!state.isMakerActive) return 'link_maker_gone';
  return state.canMakerShare ? undefined : 'link_maker_lost_right';
}
