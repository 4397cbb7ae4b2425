import type { Gateway, HttpRoute, ParentReference } from '../../../kube/gateway-api.ts';
import { keyText, type Observed } from '../../../kube/object.ts';
import { findCondition, type Condition } from '../../../kube/status.ts';
import type { Truth } from '../../conditions/runner.ts';

/** The condition `Exposed`. */
export interface Exposure {
  readonly status: Truth;
  readonly reason: string;
  readonly message: string;
}

/** The Gateway that a route names. 'unseen': it is in a namespace that the operator does not watch. */
export type SeenGateway = Pick<Gateway, 'status'> | 'missing' | 'unseen';

/** The most characters of a message that another controller wrote. */
const MESSAGE_LENGTH = 500;

/**
 * Returns whether the Gateway's controller says that it serves a route. True if the route is accepted, its Service found and the
 * Gateway programmed. False with the controller's reason. Unknown if the controller has not yet reported on the route's present
 * generation.
 */
export function exposureBy(
  route: Observed<HttpRoute>,
  parent: ParentReference & { namespace: string },
  gateway: SeenGateway,
): Exposure {
  const name = `Gateway ${keyText(parent)}`;
  if (gateway === 'missing') return { status: 'False', reason: 'GatewayMissing', message: `there is no ${name}` };
  const waiting = (what: string): Exposure => ({
    status: 'Unknown',
    reason: 'WaitingForGateway',
    message: `Waiting for ${name}: ${what}`,
  });

  const present = conditionsOf(route, parent);
  const refused = [...present, programmed(gateway)].find((condition) => condition?.status === 'False');
  if (refused)
    return { status: 'False', reason: refused.reason, message: `${name}: ${refused.type} is False: ${textOf(refused)}` };
  if (!present.some(({ type, status }) => type === 'Accepted' && status === 'True'))
    return waiting(`its controller has not accepted HTTPRoute ${route.metadata.name} yet. Does one run for the Gateway's class?`);
  if (gateway !== 'unseen' && programmed(gateway)?.status !== 'True') return waiting('it is not programmed yet');
  const hosts = (route.spec?.hostnames ?? []).join(', ');
  return { status: 'True', reason: 'Exposed', message: `HTTPRoute at ${name} for ${hosts}` };
}

/** Returns Accepted and ResolvedRefs of the controllers that have seen the route's present generation. */
function conditionsOf({ metadata, status }: Observed<HttpRoute>, parent: ParentReference & { namespace: string }): Condition[] {
  const ofParent = (status?.parents ?? []).filter(
    ({ parentRef: { name, namespace = metadata.namespace, sectionName } }) =>
      name === parent.name && namespace === parent.namespace && sectionName === parent.sectionName,
  );
  return ofParent
    .flatMap(({ conditions = [] }) => conditions)
    .filter(
      ({ type, observedGeneration }) =>
        (type === 'Accepted' || type === 'ResolvedRefs') &&
        (observedGeneration === undefined || observedGeneration === metadata.generation),
    );
}

const programmed = (gateway: SeenGateway): Condition | undefined =>
  typeof gateway === 'string' ? undefined : findCondition(gateway.status?.conditions, 'Programmed');

const textOf = ({ reason, message }: Condition): string => (message === '' ? reason : message).slice(0, MESSAGE_LENGTH);

/**
 * Removes all fields that change when another route attaches to the Gateway, except whether it is programmed. Otherwise each new
 * Tenant would be a change for all Tenants of its Gateway.
 */
export function programmedOnly(gateway: Observed<Gateway>): Observed<Gateway> {
  const found = programmed(gateway);
  const { uid, name, namespace, resourceVersion, creationTimestamp } = gateway.metadata;
  const metadata = { uid, name, ...(namespace === undefined ? {} : { namespace }), resourceVersion, creationTimestamp };
  if (!found) return { metadata };
  const { type, status, reason, message } = found;
  return { metadata, status: { conditions: [{ type, status, reason, message, lastTransitionTime: '' }] } };
}
