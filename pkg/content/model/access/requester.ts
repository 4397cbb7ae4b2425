import { permissionSet } from '../../../access/permission-sets.ts';
import type { Permission } from '../../../api/actor.ts';
import { Problem } from '../../../api/problem.ts';
import type { Tx } from '../../../store/postgres/database.ts';
import { requireRequester } from '../../../tasks/task-processor.ts';
import type { RunningTask } from '../../../tasks/task-steps.sql.ts';
import type { Caller } from './caller.ts';
import { grantsOf } from './grants-of-user.sql.ts';

/**
 * Returns the person who requested a task, with their present rights, for code that takes an endpoint's actor. `could`: the
 * permissions of the requesting session, if it had fewer than the account; the rights are limited to them. Takes two
 * statements. Throws `forbidden` if they no longer have the permission.
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
