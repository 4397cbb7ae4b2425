import type { Actor, PermissionSet } from '../../api/actor.ts';
import type { Page } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import { allows, levelOn } from '../../content/model/access/inherited-access.policy.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LINK_PROBLEMS, problemOfLink } from '../links/link-problems.policy.ts';
import type { LinkState } from '../links/link-state.ts';
import { SCORE_SCOPE } from '../grades/grades.schema.ts';
import { maySeeLaunch } from './launch.policy.ts';
import { findLaunch, type LaunchRow, listLaunches } from './launch-list.sql.ts';
import type { LaunchQuery, LaunchView } from './launch-view.schema.ts';

/**
 * Shows launches.
 *
 * Invariants:
 * - Only the person who launched, an instructor of the course and an administrator can see that a launch exists.
 * - Only the person who launched sees the return URL: it may contain a secret of their session at the LMS (Moodle's `sesskey`).
 */
export class LaunchViews {
  readonly #db: Database;
  readonly #clock: Clock;

  constructor(deps: { db: Database; clock: Clock }) {
    this.#db = deps.db;
    this.#clock = deps.clock;
  }

  /** Takes one statement. Throws `not_found`. */
  async show(actor: Actor, launchId: string): Promise<LaunchView> {
    const row = await findLaunch(this.#db.tables, launchId, { userId: actor.userId, now: this.#clock.now() });
    if (!row || !maySeeLaunch(actor, row)) throw new Problem('not_found');
    return presentLaunch(actor, row, row.folder || row.link?.file ? await actor.permissionSet() : null);
  }

  /** Takes one statement, and one more for the permission set if it is not cached. */
  async list(actor: Actor, query: LaunchQuery): Promise<Page<LaunchView>> {
    const permissions = await actor.permissionSet();
    return listLaunches(this.#db, { actor, now: this.#clock.now() }, query, (row) => presentLaunch(actor, row, permissions));
  }
}

function presentLaunch(actor: Actor, row: LaunchRow, permissions: PermissionSet | null): LaunchView {
  return {
    launch_id: row.launchId,
    user: row.userUuid === null ? null : { id: row.userUuid, name: row.userName },
    roles: row.roles,
    context: row.contextId === null ? null : { id: row.contextId, title: row.contextTitle ?? row.contextId },
    folder: folderOf(actor, row.folder, permissions),
    resource_link: row.resourceLinkId === null ? null : { id: row.resourceLinkId, ...linkOf(actor, row.link, permissions) },
    reviews: row.isReview,
    course_id: row.courseRole === 'instructor' || actor.roles.includes('admin') ? row.courseUuid : null,
    takes_grades: row.lineItem !== null && row.scopes.includes(SCORE_SCOPE),
    return_url: row.userId === actor.userId ? row.returnUrl : null,
    launched_at: row.launchedAt.toISOString(),
    expires_at: row.expiresAt?.toISOString() ?? null,
  };
}

/** Shows a file that the caller may read anyway, regardless of the link's own grant. */
function linkOf(
  actor: Actor,
  link: LinkState | null,
  permissions: PermissionSet | null,
): Omit<NonNullable<LaunchView['resource_link']>, 'id'> {
  if (!link?.isPlaced) return { title: link?.title ?? null, file: null, problem: null };
  const { title, file } = link;
  const isOpen = permissions && file && !file.isTrashed && allows(levelOn('file', { actor, granted: permissions }, file), 'read');
  if (isOpen) return { title, file: { id: file.uuid, name: file.name }, problem: null };
  const code = problemOfLink(link);
  return { title, file: null, problem: code === undefined ? null : { code, message: LINK_PROBLEMS[code] } };
}

function folderOf(actor: Actor, folder: LaunchRow['folder'], permissions: PermissionSet | null): LaunchView['folder'] {
  if (!folder || !permissions) return null;
  const level = levelOn('folder', { actor, granted: permissions }, { ...folder, ancestors: [folder] });
  if (!allows(level, 'read')) return null;
  return { id: folder.uuid, name: folder.name, may_write: allows(level, 'write') && actor.permissions.has('write:files') };
}
