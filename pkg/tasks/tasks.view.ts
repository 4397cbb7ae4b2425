import type { Actor } from '../api/actor.ts';
import type { TaskItemView, TaskView } from './tasks.schema.ts';
import type { TaskItemRow, TaskRow } from './tasks.sql.ts';

/** `kind`, `result` and `target_language` fit together as their writers stored them. */
export const presentTask = (task: TaskRow): TaskView =>
  ({
    id: task.uuid,
    subject: task.subject,
    kind: task.kind,
    ...(task.targetLanguage === null ? {} : { target_language: task.targetLanguage }),
    state: task.state,
    requested_by: task.requestedBy,
    progress: { done: task.done, total: task.total, failed: task.failed, skipped: task.skipped },
    created_at: task.createdAt.toISOString(),
    started_at: task.startedAt?.toISOString() ?? null,
    ended_at: task.endedAt?.toISOString() ?? null,
    result: task.result,
    error: errorOf(task),
    cancelable: task.endedAt === null,
    retry_of: task.retryOf,
  }) as TaskView;

/** Shows only to its requester what a task is about, and the link of an export. */
export function presentTaskTo({ userId }: Pick<Actor, 'userId'>, task: TaskRow): TaskView {
  if (task.userId === userId) return presentTask(task);
  return presentTask({ ...task, subject: null, result: task.kind === 'export' ? null : task.result });
}

export const presentTaskItem = (item: TaskItemRow): TaskItemView => ({
  id: item.uuid,
  target: { type: item.targetType, id: item.target, name: item.targetName === '' ? null : item.targetName },
  state: item.state,
  error: errorOf(item),
  reason: item.reason,
  result: item.result,
});

const errorOf = ({ errorCode, errorMessage }: Pick<TaskRow, 'errorCode' | 'errorMessage'>): TaskView['error'] =>
  errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' };
