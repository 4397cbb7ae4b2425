import { invalid } from '../../../api/problem.ts';
import type { Random } from '../../../runtime/random.ts';
import type { Tx } from '../../../store/postgres/database.ts';
import { CheckViolation } from '../../../store/postgres/errors.ts';
import type { Caller } from '../access/caller.ts';
import { hiddenAncestors } from '../access/inherited-access.policy.ts';
import { nameConflict } from '../names/name-conflict.ts';
import { pathFault, pathOf } from '../names/names.policy.ts';
import { alternativeName, NAME_ATTEMPTS } from '../names/alternative-names.policy.ts';
import { findChild, findFolder, type FolderRecord, insertFolder } from './folders.sql.ts';
import type { NewFolder } from './folders.schema.ts';

/**
 * Creates a folder in another one, which is locked, or in the actor's root. It belongs to the actor, or below a system folder to
 * the system user. `created` is false if `on_conflict` selected an existing folder. Throws `name_conflict`, `validation_failed`
 * (too deep, too long a path).
 */
export async function makeFolder(
  tx: Tx,
  { caller, random }: { readonly caller: Caller; readonly random: Pick<Random, 'uuid'> },
  parent: FolderRecord | null,
  wanted: Pick<NewFolder, 'name' | 'on_conflict'>,
): Promise<{ created: boolean; folder: FolderRecord }> {
  const ownerId = parent?.ownerIsSystem ? parent.ownerId : caller.actor.userId;
  for (let attempt = 0; attempt <= NAME_ATTEMPTS; attempt += 1) {
    const name = attempt === 0 || wanted.on_conflict === 'reuse' ? wanted.name : alternativeName(wanted.name, attempt);
    const path = pathOf(parent?.path ?? null, name);
    const fault = pathFault(path, hiddenAncestors(caller, parent?.ancestors ?? []));
    if (fault !== null) throw invalid('name', fault);
    const uuid = random.uuid();
    const created = await insert(tx, { uuid, name, path, parentId: parent?.id ?? null, ownerId });
    const present =
      !created && wanted.on_conflict === 'reuse' ? await findChild(tx, { parentId: parent?.id ?? null, ownerId, name }) : null;
    const folder = created ? await findFolder(tx, uuid) : present;
    if (folder) return { created, folder };
    if (wanted.on_conflict === 'fail') break;
  }
  throw nameConflict();
}

/** Returns false if its name is taken. */
async function insert(tx: Tx, row: Parameters<typeof insertFolder>[1]): Promise<boolean> {
  try {
    return (await insertFolder(tx, row)) !== null;
  } catch (error) {
    if (error instanceof CheckViolation && error.constraint === 'folders_depth_check')
      throw invalid('parent_id', 'is too deep to hold another folder');
    throw error;
  }
}
