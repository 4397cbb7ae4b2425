import type { Actor } from '../api/actor.ts';
import type { TaskItemView, TaskView } from './tasks.schema.ts';
import type { TaskItemRow, TaskRow } from './tasks.sql.ts';

/** `kind` and `result` fit together as their writers stored them. */
export const presentTask = (task: TaskRow): TaskView =>
  ({
    id: task.uuid,
    kind: task.kind,
    state: task.state,
    progress: { done: task.done, total: task.total, failed: task.failed, skipped: task.skipped },
    created_at: task.createdAt.toISOString(),
    started_at: task.startedAt?.toISOString() ?? null,
    ended_at: task.endedAt?.toISOString() ?? null,
    result: task.result,
    error: errorOf(task),
    cancelable: task.endedAt === null,
    retry_of: task.retryOf,
  }) as TaskView;

/** Shows the link of an export only to its requester. */
export const presentTaskTo = ({ userId }: Pick<Actor, 'userId'>, task: TaskRow): TaskView =>
  presentTask(task.kind === 'export' && task.userId !== userId ? { ...task, result: null } : task);

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
