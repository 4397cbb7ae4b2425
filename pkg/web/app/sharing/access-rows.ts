import type { Access, Permission } from '../../api/operations.generated.ts';

export type Level = Permission['permission_level'];

/** Somebody who has access, as the dialog lists them. */
export type AccessRow =
  | { readonly kind: 'owner'; readonly id: string; readonly name: string }
  /** By a grant on this very file or folder, which can be changed and taken back. */
  | { readonly kind: 'user' | 'group'; readonly id: string; readonly name: string | undefined; readonly grant: Permission }
  | InheritedRow;

/** Somebody who has access by a folder above, which is named where the reader may know of it. */
interface InheritedRow {
  readonly kind: 'inherited';
  readonly id: string;
  readonly name: string;
  readonly level: Level;
  readonly folder?: string | undefined;
}

/**
 * Returns who has access: the owner, the grants in their order (the newest last), and who has it by a folder above alone.
 * `people`: everybody with the reasons; `names`: of groups and people that were just chosen.
 */
export function accessRows(
  people: readonly Access[],
  grants: readonly Permission[],
  names: ReadonlyMap<string, string>,
): readonly AccessRow[] {
  const known = new Map(names);
  for (const { user, because } of people) {
    known.set(user.id, user.name);
    for (const { group } of because) if (group) known.set(group.id, group.name);
  }
  const granted = new Set(grants.map(({ user_id }) => user_id));
  const rows: AccessRow[] = [];
  for (const { user, because } of people)
    if (because.some(({ via }) => via === 'owner')) rows.push({ kind: 'owner', id: user.id, name: user.name });
  for (const grant of grants) {
    const id = grant.user_id ?? grant.group_id ?? '';
    rows.push({ kind: grant.user_id === null ? 'group' : 'user', id, name: known.get(id), grant });
  }
  for (const { user, level, because } of people) {
    const above = because.find(({ via }) => via === 'folder');
    if (!above || granted.has(user.id) || because.some(({ via }) => via === 'owner')) continue;
    rows.push({ kind: 'inherited', id: user.id, name: user.name, level, folder: above.folder?.name });
  }
  return rows;
}
