import type { Endpoint } from '../api/endpoint.ts';
import type { PageRoute } from '../api/page.ts';
import type { OnUserRemoved } from './offboarding.ts';
import type { TenantServices } from './services.ts';

/** One feature of a tenant's server. cmd/server/features.ts lists all of them. */
export interface Feature {
  readonly name: string;
  create(services: TenantServices): FeatureParts;
}

/** What a feature adds to the server. */
export interface FeatureParts {
  readonly endpoints?: readonly Endpoint[];
  /** Routes outside of the REST API. */
  readonly pages?: readonly PageRoute[];
  readonly onUserRemoved?: OnUserRemoved;
}

/** Creates the features, in the order of the list. */
export function createFeatures(
  features: readonly Feature[],
  services: TenantServices,
): { readonly endpoints: readonly Endpoint[]; readonly pages: readonly PageRoute[] } {
  const parts = features.map((feature) => feature.create(services));
  for (const { onUserRemoved } of parts) if (onUserRemoved) services.offboarding.register(onUserRemoved);
  return { endpoints: parts.flatMap(({ endpoints = [] }) => endpoints), pages: parts.flatMap(({ pages = [] }) => pages) };
}
