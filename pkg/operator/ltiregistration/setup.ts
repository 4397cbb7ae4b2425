import { keyOf } from '../../kube/object.ts';
import { forMapped, forObject, type Source } from '../../kube/sources.ts';
import type { Store } from '../../kube/store.ts';
import { stepTimer } from '../conditions/step-timer.ts';
import type { ControllerDeps, ControllerSetup } from '../deps.ts';
import { BY_TENANT } from '../informers.ts';
import type { LtiRegistration } from '../kinds.ts';
import { belongingToTenant, namingSecret } from '../sources.ts';
import type { TenantScopedReconciler } from '../tenant-scoped.ts';
import { ltiRegistrationReconciler } from './ltiregistration.controller.ts';

const NAME = 'ltiregistration';

/** The controller of LtiRegistrations. */
export function setUpLtiRegistrations(
  deps: ControllerDeps,
): ControllerSetup & { readonly reconciler: TenantScopedReconciler<LtiRegistration> } {
  const { informers } = deps;
  const { registrations, namespaces } = informers;
  return {
    name: NAME,
    concurrency: 2,
    reconciler: ltiRegistrationReconciler({
      ...deps,
      informer: registrations,
      namespaces: namespaces.store,
      timeSteps: stepTimer(deps, NAME),
    }),
    sources: [
      forObject(registrations.store),
      belongingToTenant(registrations.store, informers),
      namingSecret(registrations.store, informers),
      siblingsIn(registrations.store),
    ],
  };
}

/** Other registrations of the same tenant, which may conflict with it. */
const siblingsIn = (store: Store<LtiRegistration>): Source =>
  forMapped(store, ({ metadata, spec }) =>
    store
      .byIndex(BY_TENANT, `${metadata.namespace}/${spec.tenantRef.name}`)
      .filter((other) => other.metadata.name !== metadata.name)
      .map(keyOf),
  );
