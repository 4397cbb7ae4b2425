import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { OWNED_KINDS } from './index.ts';

interface Role {
  readonly kind: string;
  readonly rules: readonly { apiGroups: string[]; resources: string[]; verbs: string[] }[];
}

const roles = parseAllDocuments(readFileSync(new URL('../../../../config/rbac/role.yaml', import.meta.url), 'utf8'));
const rules = roles.map((role) => role.toJS() as Role).flatMap((role) => (role.kind === 'ClusterRole' ? role.rules : []));

/** Verbs by `<group>/<plural>`. */
const rights = new Map<string, string[]>(
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.map((resource) => [`${group}/${resource}`, verbs.toSorted()] as const)),
  ),
);
const owned = OWNED_KINDS.map(({ group, plural }) => `${group}/${plural}`).toSorted();

test.each(owned)('the operator may watch, apply and delete %s', (resource) => {
  // Secrets are written by create and update, so that what others added to them stays.
  const more = resource === '/secrets' ? ['update'] : [];

  expect(rights.get(resource)).toEqual(['get', 'list', 'watch', 'create', 'patch', 'delete', ...more].toSorted());
});

test('the operator may delete nothing but what it makes', () => {
  const deletable = [...rights].filter(([, verbs]) => verbs.includes('delete') || verbs.includes('*')).map(([resource]) => resource);

  expect(deletable.toSorted()).toEqual(owned);
});
