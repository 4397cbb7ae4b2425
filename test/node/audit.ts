import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLUSTER_RIGHTS, OWN_NAMESPACE_RIGHTS } from '../../pkg/operator/rights.ts';
import { type Installation, NAMESPACE } from './installation.ts';

/** The fields of an audit event (audit.k8s.io/v1) that the check reads. */
interface AuditEvent {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly objectRef?: { readonly apiGroup?: string; readonly resource?: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly annotations?: Readonly<Record<string, string>>;
}

const OPERATOR = `system:serviceaccount:${NAMESPACE}:carrel-operator`;

/**
 * Rights that no step uses: to read again after a conflict, to repair what somebody changed, to count an Event again. An update
 * of `finalizers` is never sent: the API server looks for the right where an owner reference holds back a deletion.
 */
const WITHOUT_A_STEP = /^(get|patch) |^update (\/secrets|carrel\.dev\/\w+\/finalizers)$/;

/** `<verb> <group>/<resource>` as CLUSTER_RIGHTS writes them; undefined for a path that is no resource. */
function rightOf({ verb, objectRef }: AuditEvent): string | undefined {
  if (objectRef?.resource === undefined) return undefined;
  const { apiGroup = '', resource, subresource } = objectRef;
  return `${verb} ${apiGroup}/${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}

/** A 403 of somebody who has the right is an admission's, as for an Event in a namespace that is being deleted. */
const isRefused = ({ responseStatus, annotations }: AuditEvent): boolean =>
  responseStatus?.code === 403 && annotations?.['authorization.k8s.io/decision'] !== 'allow';

const listed = (rights: ReadonlyMap<string, readonly string[]>): string[] =>
  [...rights].flatMap(([resource, verbs]) => verbs.map((verb) => `${verb} ${resource}`));

/** The calls that the operator really made beside what the chart's roles grant: the audit log of all steps before. */
export function rightsAreUsed({ cluster }: Installation): Promise<void> {
  const events = readFileSync(join(cluster.layout.log, 'audit.log'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ user }) => user.username === OPERATOR);
  const used = new Set(events.map(rightOf));
  const refused = new Set(events.filter(isRefused).map(rightOf));
  const granted = [...listed(CLUSTER_RIGHTS), ...listed(OWN_NAMESPACE_RIGHTS)];

  const unused = granted.filter((right) => !used.has(right));

  assert.deepEqual([...refused], []);
  assert.deepEqual(
    unused.filter((right) => !WITHOUT_A_STEP.test(right)),
    [],
  );
  return Promise.resolve();
}
