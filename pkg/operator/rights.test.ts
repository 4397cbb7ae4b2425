import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { CLUSTER_RIGHTS, OWN_NAMESPACE_RIGHTS } from './rights.ts';
import { OWNED_KINDS } from './tenant/children/index.ts';

interface Role {
  readonly kind: string;
  readonly rules: readonly { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }[];
}

/** Made from the chart's template by hack/kustomize.ts. */
const roles = parseAllDocuments(readFileSync(new URL('../../config/rbac/role.yaml', import.meta.url), 'utf8')).map(
  (role) => role.toJS() as Role,
);

/** Verbs by `<group>/<resource>` of the roles of a kind. */
function granted(kind: string): Record<string, string[]> {
  const verbs = new Map<string, string[]>();
  const rules = roles.filter((role) => role.kind === kind).flatMap((role) => role.rules);
  for (const { apiGroups, resources, verbs: allowed } of rules)
    for (const resource of apiGroups.flatMap((group) => resources.map((name) => `${group}/${name}`)))
      verbs.set(resource, [...(verbs.get(resource) ?? []), ...allowed].toSorted());
  return Object.fromEntries(verbs);
}

const sorted = (rights: ReadonlyMap<string, readonly string[]>): Record<string, string[]> =>
  Object.fromEntries([...rights].map(([resource, verbs]) => [resource, verbs.toSorted()]));

test('the cluster role grants the rights of the table and no other', () => {
  expect(granted('ClusterRole')).toEqual(sorted(CLUSTER_RIGHTS));
});

test('in its own namespace the operator has one Lease, and nothing else', () => {
  const bound = roles
    .filter(({ kind }) => kind === 'Role')
    .flatMap(({ rules }) => rules.filter(({ verbs }) => !verbs.includes('create')));

  expect(granted('Role')).toEqual(sorted(OWN_NAMESPACE_RIGHTS));
  expect(bound.map(({ resourceNames }) => resourceNames)).toEqual([['carrel-operator']]);
});

test('the operator may delete nothing but what it makes', () => {
  const deletable = Object.entries(granted('ClusterRole')).flatMap(([resource, verbs]) =>
    verbs.includes('delete') || verbs.includes('*') || verbs.includes('deletecollection') ? [resource] : [],
  );

  expect(deletable.toSorted()).toEqual(OWNED_KINDS.map(({ group, plural }) => `${group}/${plural}`).toSorted());
});
