import type { Actor } from '../../api/actor.ts';
import type { Page } from '../../api/paging.ts';
import type { Database } from '../../store/postgres/database.ts';
import { SYNC_ROSTER } from '../../tasks/roster-tasks.ts';
import type { TaskRequests } from '../../tasks/task-requests.ts';
import type { TaskView } from '../../tasks/tasks.schema.ts';
import { presentTask } from '../../tasks/tasks.view.ts';
import { requireTaught } from '../contexts/contexts.service.ts';
import { requireRoster } from '../services/course-services.ts';
import type { MemberQuery, MemberView } from './members.schema.ts';
import { findQueuedSync, listMembers } from './members.sql.ts';

/**
 * The people of courses, for administrators and instructors of the course. Other members get 403; for everyone else the course
 * does not exist.
 */
export class CourseMembers {
  readonly #db: Database;
  readonly #tasks: TaskRequests;

  constructor(deps: { db: Database; tasks: TaskRequests }) {
    this.#db = deps.db;
    this.#tasks = deps.tasks;
  }

  /** Takes two statements. Throws Problem not_found, forbidden. */
  async list(actor: Actor, contextId: string, query: MemberQuery): Promise<Page<MemberView>> {
    const { groupId } = await requireTaught(this.#db.tables, actor, contextId);
    return listMembers(this.#db, groupId, query);
  }

  /**
   * Returns the person's queued job for this course if there is one, otherwise requests a new one. Seven statements. Throws
   * Problem not_found, forbidden, registration_inactive, lms_service_missing, conflict.
   */
  async sync(actor: Actor, contextId: string): Promise<TaskView> {
    return this.#db.transaction(async (tx) => {
      const context = await requireTaught(tx, actor, contextId);
      requireRoster(context);
      const queued = await findQueuedSync(tx, actor.userId, context.uuid);
      return queued
        ? presentTask(queued)
        : this.#tasks.request(tx, SYNC_ROSTER, actor.userId, {
            arguments: { context: context.uuid, subject: { type: 'course', id: context.uuid, name: context.title } },
          });
    });
  }
}
