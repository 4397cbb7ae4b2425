import type { WorkerServices } from '../../events/processor.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { HeldTask, TaskSteps } from '../../tasks/task-processor.ts';
import type { RosterSkipReason } from '../../tasks/tasks.schema.ts';
import type { ContextRow } from '../contexts/contexts.sql.ts';
import { CourseServices } from '../services/course-services.ts';
import type { LmsCalls } from '../services/lms-calls.ts';
import { unusable } from '../services/lms-problems.policy.ts';
import { type RosterPage, rosterPages } from './read-roster.ts';
import { ROSTER_LIMITS, RosterBounds, SKIPPED_MAX } from './roster-limits.ts';
import { addEntries, deleteEntries, entriesJson } from './roster-entries.sql.ts';
import { type ImportedRoster, importRoster } from './import-roster.ts';

/** A roster that was read but not yet imported. */
export interface WholeRoster {
  readonly groupId: number;
  readonly readAt: Date;
  readonly skipped: readonly { readonly reason: RosterSkipReason; readonly count: number }[];
}

/**
 * Reads rosters of courses, and imports them.
 *
 * Invariants:
 * - Nothing of a course changes before the last page of its roster was read completely. A roster without people is invalid.
 * - Only one page is in memory at a time. The entries read are rows of the task; the step that imports them deletes them.
 * - Whatever the LMS sends, a roster ends: after ten minutes, 5,000 pages, 200,000 people, 256 MiB, or 20 pages without a new
 *   person.
 */
export class RosterSync {
  readonly #services: WorkerServices;
  readonly #calls: LmsCalls;

  constructor(services: WorkerServices, calls: LmsCalls) {
    this.#services = services;
    this.#calls = calls;
  }

  /** Throws Problem, as LmsCalls does, and TaskOver. The task must have no entries of an earlier attempt. */
  async read({ context, step }: Pick<TaskSteps<unknown>, 'context' | 'step'>, course: ContextRow): Promise<WholeRoster> {
    const { tenantId, sealer } = await this.#services.seals.of(context.slug);
    const services = new CourseServices({
      sql: context.db.tables,
      tenant: { slug: context.slug, id: tenantId },
      sealer,
      calls: this.#calls,
      clock: this.#services.clock,
    });
    const { url, operation } = await services.roster(course, context.signal, ROSTER_LIMITS);
    const readAt = this.#services.clock.now();
    const bounds = new RosterBounds();
    const skipped: RosterSkipReason[] = [];
    for await (const page of rosterPages(this.#calls, operation, { url, lmsId: course.lmsId })) {
      skipped.push(...page.skipped.slice(0, SKIPPED_MAX - skipped.length));
      await this.#keep(step, page, bounds);
    }
    if (bounds.isEmpty) throw unusable('its list of members names nobody');
    const counts = Map.groupBy(skipped, (reason) => reason);
    return { groupId: course.groupId, readAt, skipped: [...counts].map(([reason, all]) => ({ reason, count: all.length })) };
  }

  async #keep(step: TaskSteps<unknown>['step'], { members }: RosterPage, bounds: RosterBounds): Promise<void> {
    const json = entriesJson(members);
    const added = members.length === 0 ? 0 : await step((tx, task) => addEntries(tx, task.id, json));
    bounds.count(added, json.length);
  }

  /** Must run in a step of the task that read the roster. */
  async import(
    tx: Tx,
    task: Pick<HeldTask<unknown>, 'id'>,
    { cache }: TaskSteps<unknown>['context'],
    { groupId, readAt }: WholeRoster,
  ): Promise<ImportedRoster> {
    const imported = await importRoster({ cache, events: this.#services.events }, tx, { groupId, readAt, taskId: task.id });
    await deleteEntries(tx, task.id);
    return imported;
  }
}
