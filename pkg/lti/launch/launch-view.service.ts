import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import { allows, levelOn } from '../../content/access/inherited-access.policy.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LINK_PROBLEMS, problemOfLink } from '../links/link-problems.policy.ts';
import { linkState } from '../links/link-state.sql.ts';
import type { LinkState } from '../links/link-state.ts';
import { SCORE_SCOPE } from '../grades/grades.schema.ts';
import { maySeeLaunch } from './launch.policy.ts';
import { COURSE_FOLDER } from './course-folder.ts';
import type { LaunchView } from './launch-view.schema.ts';
import type { CourseRole } from './roles.policy.ts';

interface Row {
  readonly launchId: string;
  readonly roles: string[];
  readonly contextId: string | null;
  readonly contextTitle: string | null;
  readonly resourceLinkId: string | null;
  readonly lineItem: string | null;
  readonly scopes: readonly string[];
  readonly returnUrl: string | null;
  readonly launchedAt: Date;
  readonly expiresAt: Date | null;
  readonly userId: number | null;
  readonly userUuid: string | null;
  readonly userName: string | null;
  readonly courseRole: CourseRole | 'member' | null;
  readonly link: LinkState | null;
  readonly folder: { readonly uuid: string; readonly name: string; readonly ownerId: number } | null;
}

const LAUNCH = `
  SELECT l.launch_id AS "launchId", l.roles, l.context_id AS "contextId", g.name AS "contextTitle", l.resource_link_id AS "resourceLinkId",
    l.ags_lineitem_url AS "lineItem", l.ags_scopes AS scopes, l.return_url AS "returnUrl", l.launched_at AS "launchedAt",
    l.expires_at AS "expiresAt", u.id AS "userId", u.uuid AS "userUuid", u.display_name AS "userName",
    m.role AS "courseRole",
    CASE WHEN d.id IS NOT NULL THEN jsonb_build_object('uuid', d.uuid, 'name', d.name, 'ownerId', d.owner_id) END AS folder, k.state AS link
  FROM lti_launches l
  LEFT JOIN lti_identities i ON i.platform_id = l.platform_id AND i.subject = l.user_id
  LEFT JOIN users u ON u.id = i.user_id
  LEFT JOIN groups g ON g.platform_id = l.platform_id AND g.context_id = l.context_id
  LEFT JOIN group_members m ON m.group_id = g.id AND m.user_id = $2
  LEFT JOIN LATERAL (${COURSE_FOLDER}) c ON true
  LEFT JOIN folders d ON d.id = c.id
  LEFT JOIN LATERAL (${linkState({ userId: '$2', now: '$3' })}) k ON true
  WHERE l.launch_id = $1`;

/**
 * Launches as they are shown.
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

  /** One statement. Throws `not_found`. */
  async show(actor: Actor, launchId: string): Promise<LaunchView> {
    const [row] = await this.#db.prepared<Row>('lti-launch', LAUNCH, [launchId, actor.userId, this.#clock.now()]);
    if (!row || !maySeeLaunch(actor, row)) throw new Problem('not_found');
    return {
      launch_id: row.launchId,
      user: row.userUuid === null ? null : { id: row.userUuid, name: row.userName },
      roles: row.roles,
      context: row.contextId === null ? null : { id: row.contextId, title: row.contextTitle ?? row.contextId },
      folder: await this.#folder(actor, row.folder),
      resource_link: row.resourceLinkId === null ? null : { id: row.resourceLinkId, ...(await this.#link(actor, row.link)) },
      takes_grades: row.lineItem !== null && row.scopes.includes(SCORE_SCOPE),
      return_url: row.userId === actor.userId ? row.returnUrl : null,
      launched_at: row.launchedAt.toISOString(),
      expires_at: row.expiresAt?.toISOString() ?? null,
    };
  }

  /** A file that the caller may read anyway is shown, whatever the link itself gives. */
  async #link(actor: Actor, link: LinkState | null): Promise<Omit<NonNullable<LaunchView['resource_link']>, 'id'>> {
    if (!link?.isPlaced) return { title: link?.title ?? null, file: null, problem: null };
    const { title, file } = link;
    const isOpen = file && !file.isTrashed && allows(levelOn('file', actor, file, await actor.permissionSet()), 'read');
    if (isOpen) return { title, file: { id: file.uuid, name: file.name }, problem: null };
    const code = problemOfLink(link);
    return { title, file: null, problem: code === undefined ? null : { code, message: LINK_PROBLEMS[code] } };
  }

  async #folder(actor: Actor, folder: Row['folder']): Promise<LaunchView['folder']> {
    if (!folder) return null;
    const level = levelOn('folder', actor, { ...folder, ancestors: [folder] }, await actor.permissionSet());
    if (!allows(level, 'read')) return null;
    return { id: folder.uuid, name: folder.name, may_write: allows(level, 'write') && actor.permissions.has('write:files') };
  }
}
