import type { ObjectMeta } from './object.ts';

type ManagedFields = NonNullable<ObjectMeta['managedFields']>;
type FieldTree = { [name: string]: FieldTree };

/**
 * Returns the entries with the fields that `manager` wrote by create or update marked as applied; undefined if nothing changes.
 * Subresources stay unchanged.
 */
export function upgradedManagedFields(entries: ManagedFields, manager: string): ManagedFields | undefined {
  const isOurs = (entry: ManagedFields[number], operation: string): boolean =>
    entry.manager === manager && entry.operation === operation && !entry.subresource;
  const updated = entries.find((entry) => isOurs(entry, 'Update'));
  if (!updated) return undefined;
  const applied = entries.find((entry) => isOurs(entry, 'Apply'));
  const fieldsV1 = merge((applied?.fieldsV1 ?? {}) as FieldTree, (updated.fieldsV1 ?? {}) as FieldTree);
  const others = entries.filter((entry) => !isOurs(entry, 'Update') && !isOurs(entry, 'Apply'));
  return [...others, { ...updated, operation: 'Apply', fieldsV1 }];
}

/** Returns true if `manager` holds the field by apply. */
export function managesField(entries: ManagedFields, manager: string, path: readonly string[]): boolean {
  return entries
    .filter((entry) => entry.manager === manager && entry.operation === 'Apply' && !entry.subresource)
    .some(
      (entry) =>
        path.reduce<FieldTree | undefined>((tree, name) => tree?.[`f:${name}`], entry.fieldsV1 as FieldTree) !== undefined,
    );
}

function merge(a: FieldTree, b: FieldTree): FieldTree {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, merge(a[name] ?? {}, b[name] ?? {})]));
}
