import { SECRET } from '../../kube/kinds.ts';
import { forObject, forOwner } from '../../kube/sources.ts';
import { stepTimer } from '../conditions/step-timer.ts';
import type { ControllerDeps, ControllerSetup } from '../deps.ts';
import { WEBHOOK, type Webhook } from '../kinds.ts';
import { belongingToTenant, namingSecret } from '../sources.ts';
import type { TenantScopedReconciler } from '../tenant-scoped.ts';
import { webhookReconciler } from './webhook.controller.ts';

const NAME = 'webhook';

/** The controller of Webhooks. */
export function setUpWebhooks(deps: ControllerDeps): ControllerSetup & { readonly reconciler: TenantScopedReconciler<Webhook> } {
  const { informers } = deps;
  const { webhooks, namespaces, owned } = informers;
  return {
    name: NAME,
    concurrency: 2,
    reconciler: webhookReconciler({
      ...deps,
      informer: webhooks,
      namespaces: namespaces.store,
      timeSteps: stepTimer(deps, NAME),
    }),
    sources: [
      forObject(webhooks.store),
      forOwner(owned.of(SECRET).store, WEBHOOK),
      belongingToTenant(webhooks.store, informers),
      namingSecret(webhooks.store, informers),
    ],
  };
}
