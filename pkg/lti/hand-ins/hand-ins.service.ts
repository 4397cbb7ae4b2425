import { DOWNLOAD_LINK_SECONDS } from '../../api/lifetimes.ts';
import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import { levelOn, requireLevel } from '../../content/model/access/inherited-access.policy.ts';
import { sealLink } from '../../content/download-links/sealed-links.ts';
import { findFile } from '../../content/model/files/files.sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Sealer } from '../../runtime/sealing.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { HandInView } from './hand-ins.schema.ts';
import { findLaunchOfHandIn, type HandInRow, insertHandIn, lastHandIn, type LaunchOfHandIn } from './hand-ins.sql.ts';

/**
 * Files that learners hand in at a link, and the view of them in a submission review (1EdTech Submission Review 1.0).
 *
 * Invariants:
 * - A hand-in is one version of one file. Later versions, a rename or a move do not change it, and it shows nobody the later
 *   versions.
 * - People hand in their own files, through their own launch.
 * - It is shown to the person who handed it in and, in a launch that reviews it, to an instructor of the course.
 */
export class HandIns {
  readonly #db: Database;
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #tenantId: string;
  readonly #apiUrl: string;

  constructor(deps: { db: Database; sealer: Sealer; clock: Clock; random: Random; tenantId: string; apiUrl: string }) {
    this.#db = deps.db;
    this.#sealer = deps.sealer;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#tenantId = deps.tenantId;
    this.#apiUrl = deps.apiUrl;
  }

  /** Takes four statements. Throws `not_found`, `forbidden`. */
  async handIn(actor: Actor, launchId: string, fileId: string): Promise<HandInView> {
    const launch = await findLaunchOfHandIn(this.#db.tables, launchId, actor.userId);
    if (launch?.userId !== actor.userId) throw new Problem('not_found');
    if (launch.isReview || launch.resourceLinkId === null || launch.courseRole === null)
      throw new Problem('forbidden', 'To hand in, launch a link in a course of which you are a member.');
    const file = await findFile(this.#db.tables, fileId);
    if (!file || file.deletedAt !== null) throw new Problem('not_found');
    requireLevel(levelOn('file', { actor, granted: await actor.permissionSet() }, file), 'read');
    if (file.ownerId !== actor.userId) throw new Problem('forbidden', 'Hand in one of your own files.');
    const row = {
      uuid: this.#random.uuid(),
      userId: actor.userId,
      fileUuid: file.uuid,
      version: file.version,
      now: this.#clock.now(),
    };
    await this.#db.transaction((tx) => insertHandIn(tx, launch, row));
    return this.#shown(await lastHandIn(this.#db.tables, actor.userId, launch));
  }

  /**
   * Returns the last hand-in at the launch's link: of the person whom the launch reviews, otherwise of the person who launched.
   * Two statements. Throws `not_found`.
   */
  async show(actor: Actor, launchId: string): Promise<HandInView> {
    const launch = await findLaunchOfHandIn(this.#db.tables, launchId, actor.userId);
    if (launch?.userId !== actor.userId) throw new Problem('not_found');
    const of = personOf(actor, launch);
    return this.#shown(of === null ? undefined : await lastHandIn(this.#db.tables, of, launch));
  }

  #shown(row: HandInRow | undefined): HandInView {
    if (!row) throw new Problem('not_found', 'Nothing was handed in here.');
    if (row.fileName === null) throw new Problem('not_found', 'The version that was handed in has been deleted.');
    const until = this.#clock.now().getTime() + DOWNLOAD_LINK_SECONDS * 1000;
    const ticket = sealLink(
      { sealer: this.#sealer, tenantId: this.#tenantId },
      { file: row.fileUuid, version: row.version, user: row.userUuid, until },
    );
    return {
      id: row.uuid,
      user: { id: row.userUuid, name: row.userName },
      file: { id: row.fileUuid, name: row.fileName },
      version: row.version,
      handed_in_at: row.handedInAt.toISOString(),
      download_url: `${this.#apiUrl}/tickets/${ticket}`,
    };
  }
}

/**
 * Returns the person whose hand-in the launch shows. Null: the person named by the LMS has never launched, or the actor no longer
 * teaches the course.
 */
function personOf(actor: Actor, { isReview, forUserId, courseRole }: LaunchOfHandIn): number | null {
  if (!isReview) return actor.userId;
  return courseRole === 'instructor' || forUserId === actor.userId ? forUserId : null;
}
