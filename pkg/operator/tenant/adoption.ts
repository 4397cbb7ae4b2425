import type { KubeObject } from '../../kube/object.ts';
import { isDeleting, keyOf, keyText } from '../../kube/object.ts';
import { BY_TENANT, type Informers } from '../informers.ts';
import type { ObservedTenant } from '../kinds.ts';
import { referenceOf } from '../linked.ts';
import { keepRegistrations } from '../ltiregistration/rows.ts';
import type { TenantSchema } from '../tenant-rows.ts';
import { keepEndpoints } from '../webhook/rows.ts';

/**
 * Data that were kept hold the rows of Webhooks and LtiRegistrations of their time. A resource that was deleted meanwhile, or is just being
 * deleted, could not take its rows along, so they go when the data are adopted: no receiver hears of a tenant that is not its own any more.
 */
export class Adoption {
  readonly #informers: Pick<Informers, 'registrations' | 'webhooks'>;

  constructor(informers: Pick<Informers, 'registrations' | 'webhooks'>) {
    this.#informers = informers;
  }

  async clean(tenant: ObservedTenant, schema: TenantSchema): Promise<void> {
    const { registrations, webhooks } = this.#informers;
    const referring = (store: { byIndex(name: string, value: string): KubeObject[] }): string[] =>
      store
        .byIndex(BY_TENANT, keyText(keyOf(tenant)))
        .filter((object) => !isDeleting(object))
        .map(referenceOf);
    await keepEndpoints(schema, referring(webhooks.store));
    await keepRegistrations(schema, referring(registrations.store));
  }
}
