import {
  GATEWAY,
  GATEWAY_CLASS,
  HTTP_ROUTE,
  type Gateway,
  type GatewayClass,
  type HttpRoute,
  type ParentReference,
} from '../../kube/gateway-api.ts';
import { informer, type Informer } from '../../kube/informer.ts';
import { keyText, type Observed } from '../../kube/object.ts';
import type { KubeClient } from '../../kube/transport.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { attach, isHostOf, parentKey, type Attachment } from './attachment.policy.ts';

/** The controller name of the GatewayClasses whose Gateways this router serves. */
export const CONTROLLER = 'carrel.dev/router';

/** Index of the routes of a Gateway, by `namespace/name`. */
export const BY_GATEWAY = 'gateway';

/** The Gateways of this router's classes, and the routes that name them; none while the cluster has no Gateway API. */
export class Gateways {
  readonly classes: Informer<GatewayClass>;
  readonly gateways: Informer<Gateway>;
  readonly routes: Informer<HttpRoute>;

  constructor(deps: { client: KubeClient; clock: Clock; log: Logger; metrics: Metrics }) {
    const shared = { ...deps, mayBeMissing: true };
    this.classes = informer<GatewayClass>({ ...shared, kind: GATEWAY_CLASS });
    this.gateways = informer<Gateway>({ ...shared, kind: GATEWAY });
    const indexes = { host: hostIndex, [BY_GATEWAY]: gatewayIndex };
    this.routes = informer<HttpRoute>({ ...shared, kind: HTTP_ROUTE, indexes });
  }

  isOurs({ spec }: Gateway): boolean {
    return this.classes.store.get({ namespace: '', name: spec?.gatewayClassName ?? '' })?.spec?.controllerName === CONTROLLER;
  }

  /** Returns undefined if the Gateway belongs to another controller or does not exist. */
  attachment(route: HttpRoute, parent: ParentReference): Attachment | undefined {
    const gateway = this.gateways.store.get(parentKey(route, parent));
    return gateway && this.isOurs(gateway) ? attach(route, parent, gateway) : undefined;
  }

  /** Returns the routes that name this host (`*.example.org`; '' for routes without a host) and are served at `host`. */
  routesFor(name: string, host: string): Observed<HttpRoute>[] {
    return this.routes.store
      .byIndex('host', name)
      .filter((route) => this.#listeners(route).some((listener) => isHostOf(listener, host)));
  }

  /** Returns the host names of all served routes. */
  hosts(): string[] {
    return this.routes.store.list().flatMap((route) => (this.#listeners(route).length > 0 ? (route.spec?.hostnames ?? []) : []));
  }

  #listeners(route: HttpRoute) {
    return (route.spec?.parentRefs ?? []).flatMap((parent) => this.attachment(route, parent)?.listeners ?? []);
  }
}

const hostIndex = ({ spec }: HttpRoute): string[] => (spec?.hostnames?.length ? [...spec.hostnames] : ['']);

const gatewayIndex = (route: HttpRoute): string[] => [
  ...new Set((route.spec?.parentRefs ?? []).map((parent) => keyText(parentKey(route, parent)))),
];
