import { Controller, type Reconcile } from '../../kube/controller.ts';
import type { HttpRoute, ParentReference, RouteParentStatus } from '../../kube/gateway-api.ts';
import type { Service } from '../../kube/kinds.ts';
import { isDeleting, keyOf, keyText, type KubeObject, type ObjectKey, type Observed } from '../../kube/object.ts';
import { done } from '../../kube/result.ts';
import { forMapped, forObject, type Source } from '../../kube/sources.ts';
import { setCondition, StatusWriter, type Condition } from '../../kube/status.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Store } from '../../kube/store.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { systemRandom as random } from '../../runtime/random.ts';
import { BY_GATEWAY, CONTROLLER, type Gateways } from './gateways.ts';

interface Deps {
  readonly all: Gateways;
  readonly services: Store<Service>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Writes the statuses that the controller of a Gateway writes: of its classes, its Gateways, and the routes that name them.
 * Resolves when the signal is aborted.
 */
export async function runGatewayStatus(deps: Deps, signal: AbortSignal): Promise<void> {
  const { all } = deps;
  const { classes, gateways, routes } = all;
  const now = (): Date => deps.clock.now();
  const routesOfGateway = (key: ObjectKey): ObjectKey[] => routes.store.byIndex(BY_GATEWAY, keyText(key)).map(keyOf);
  const gatewaysOfClass = (name: string): ObjectKey[] =>
    gateways.store.list().flatMap((gateway) => (gateway.spec?.gatewayClassName === name ? [keyOf(gateway)] : []));

  const controllers = [
    controller(deps, 'gatewayclass', classes, [], (found) =>
      found.spec?.controllerName === CONTROLLER
        ? { ...found.status, conditions: withTrue(found, ['Accepted'], now()) }
        : undefined,
    ),
    controller(
      deps,
      'gateway',
      gateways,
      [forMapped(classes.store, ({ metadata }) => gatewaysOfClass(metadata.name))],
      (found) => {
        if (!all.isOurs(found)) return undefined;
        const conditions = withTrue(found, ['Accepted', 'Programmed'], now());
        return { ...found.status, addresses: [{ type: 'Hostname', value: 'localhost' }], conditions };
      },
    ),
    controller(
      deps,
      'httproute',
      routes,
      [
        forMapped(gateways.store, (gateway) => routesOfGateway(keyOf(gateway))),
        forMapped(classes.store, ({ metadata }) => gatewaysOfClass(metadata.name).flatMap(routesOfGateway)),
        forMapped(deps.services, ({ metadata }) =>
          routes.store.list(metadata.namespace).flatMap((route) => usersOf(route, metadata.name)),
        ),
      ],
      (found) => {
        const others = (found.status?.parents ?? []).filter(({ controllerName }) => controllerName !== CONTROLLER);
        const ours = (found.spec?.parentRefs ?? []).flatMap((parent) => parentStatus(deps, found, parent) ?? []);
        return found.status === undefined && ours.length === 0 ? undefined : { parents: [...others, ...ours] };
      },
    ),
  ];
  await Promise.all(controllers.map((each) => each.run(signal)));
}

/** Returns a controller that gives each object of a kind its status; an undefined status leaves the object as it is. */
function controller<T extends KubeObject & { status?: unknown }>(
  { clock, log, metrics }: Deps,
  name: string,
  { api, store }: Informer<T>,
  sources: readonly Source[],
  statusOf: (found: Observed<T>) => NonNullable<T['status']> | undefined,
): Controller {
  const writer = new StatusWriter<T>({ api, store });
  const reconcile: Reconcile = async (key, signal) => {
    const found = store.get(key);
    const status = found && !isDeleting(found) ? statusOf(found) : undefined;
    if (found && status) await writer.write(found, status, { signal });
    return done;
  };
  return new Controller({ name, reconcile, sources: [forObject(store), ...sources], clock, random, log, metrics });
}

function parentStatus(
  { all, services, clock }: Deps,
  route: Observed<HttpRoute>,
  parent: ParentReference,
): RouteParentStatus | undefined {
  const attachment = all.attachment(route, parent);
  if (!attachment) return undefined;
  const before = (route.status?.parents ?? []).find(
    ({ controllerName, parentRef: { namespace, name, sectionName } }) =>
      controllerName === CONTROLLER &&
      namespace === parent.namespace &&
      name === parent.name &&
      sectionName === parent.sectionName,
  );
  const { refusal } = attachment;
  const missing = servicesOf(route).find((name) => !services.get({ namespace: route.metadata.namespace ?? '', name }));
  const accepted = refusal
    ? { status: 'False' as const, ...refusal }
    : { status: 'True' as const, reason: 'Accepted', message: '' };
  const resolved =
    missing === undefined
      ? { status: 'True' as const, reason: 'ResolvedRefs', message: '' }
      : { status: 'False' as const, reason: 'BackendNotFound', message: `there is no Service ${missing}` };
  const observedGeneration = route.metadata.generation ?? 0;
  const found = [
    { type: 'Accepted', observedGeneration, ...accepted },
    { type: 'ResolvedRefs', observedGeneration, ...resolved },
  ];
  const conditions = found.reduce<Condition[]>((all, each) => setCondition(all, each, clock.now()), before?.conditions ?? []);
  return { parentRef: parent, controllerName: CONTROLLER, conditions };
}

const servicesOf = ({ spec }: HttpRoute): string[] =>
  (spec?.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs.map(({ name }) => name));

const usersOf = (route: Observed<HttpRoute>, service: string): ObjectKey[] =>
  servicesOf(route).includes(service) ? [keyOf(route)] : [];

const withTrue = (
  { metadata, status }: Observed & { status?: { conditions?: Condition[] } },
  types: readonly string[],
  now: Date,
): Condition[] =>
  types.reduce<Condition[]>(
    (all, type) =>
      setCondition(all, { type, status: 'True', reason: type, message: '', observedGeneration: metadata.generation ?? 0 }, now),
    status?.conditions ?? [],
  );
