import { permissionSet } from '../../../access/permission-sets.ts';
import type { Permission } from '../../../api/actor.ts';
import { Problem } from '../../../api/problem.ts';
import type { Tx } from '../../../store/postgres/database.ts';
import { requireRequester } from '../../../tasks/task-processor.ts';
import type { RunningTask } from '../../../tasks/task-steps.sql.ts';
import type { Caller } from './caller.ts';
import { grantsOf } from './grants-of-user.sql.ts';

/**
 * Whoever requested a task, with their rights as they are now: a step hands both to what takes an endpoint's actor. `could`: what
 * the session that requested it could do, where that was less than the account can; they have no more of it now. Two statements.
 * Throws `forbidden` where they may no longer do any such thing.
 */
export async function requesterOf(
  tx: Tx,
  task: Pick<RunningTask, 'userId' | 'scheduleId'>,
  permission: Permission,
  now: Date,
  could?: readonly Permission[],
): Promise<Caller> {
  const requester = await requireRequester(tx, task, permission);
  const permissions = could ? new Set(could.filter((each) => requester.permissions.has(each))) : requester.permissions;
  if (!permissions.has(permission)) throw new Problem('forbidden', `Requires the permission ${permission}.`);
  const { entries } = await grantsOf(tx, requester.userId, now);
  const granted = permissionSet([...permissions, ...entries]);
  return { actor: { ...requester, permissions, permissionSet: () => Promise.resolve(granted) }, granted };
}
