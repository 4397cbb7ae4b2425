import type { Gateway, HttpRoute, ParentReference } from '../../../kube/gateway-api.ts';
import { keyText, type Observed } from '../../../kube/object.ts';
import { findCondition, type Condition } from '../../../kube/status.ts';
import type { Truth } from '../../conditions/runner.ts';

/** What the condition `Exposed` says. */
export interface Exposure {
  readonly status: Truth;
  readonly reason: string;
  readonly message: string;
}

/** The Gateway that a route names; 'unseen': in a namespace that the operator does not watch. */
export type SeenGateway = Pick<Gateway, 'status'> | 'missing' | 'unseen';

/** Of a message that another controller wrote. */
const MESSAGE_LENGTH = 500;

/**
 * Whether the Gateway's controller serves a route, as the controller says itself: True where the route is accepted and its
 * Service found, and the Gateway is programmed; False with the controller's reason; Unknown where it has said nothing of the
 * route as it is now.
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

/** Accepted and ResolvedRefs, by the controllers that have seen the route's present generation. */
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
 * As the operator keeps it: whether it is programmed, and nothing that changes when another route attaches to it. Otherwise each
 * new Tenant would be a change for all Tenants of its Gateway.
 */
export function programmedOnly(gateway: Observed<Gateway>): Observed<Gateway> {
  const found = programmed(gateway);
  const { uid, name, namespace, resourceVersion, creationTimestamp } = gateway.metadata;
  const metadata = { uid, name, ...(namespace === undefined ? {} : { namespace }), resourceVersion, creationTimestamp };
  if (!found) return { metadata };
  const { type, status, reason, message } = found;
  return { metadata, status: { conditions: [{ type, status, reason, message, lastTransitionTime: '' }] } };
}
