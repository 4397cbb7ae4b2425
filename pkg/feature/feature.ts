import type { GrantSource } from '../access/permission-sets.ts';
import type { Endpoint } from '../api/endpoint.ts';
import type { PageRoute } from '../api/page.ts';
import type { OnUserRemoved } from './offboarding.ts';
import type { Database } from '../store/postgres/database.ts';
import type { TenantServices } from './services.ts';

/** One feature of a tenant's server. cmd/server/features.ts lists all of them. */
export interface Feature {
  /** Shown in messages to developers. */
  readonly name: string;
  /** Creates the feature's part of a user's permission set, before the services, which need it. */
  readonly grantSource?: (db: Database) => GrantSource;
  /** Creates the feature's part of the grants that a launch adds to its session. */
  readonly launchGrants?: (db: Database) => NonNullable<GrantSource['grantsOfLaunch']>;
  create(services: TenantServices): FeatureParts;
}

/** The parts that a feature adds to the server. */
interface FeatureParts {
  readonly endpoints?: readonly Endpoint[];
  /** Routes outside of the REST API. */
  readonly pages?: readonly PageRoute[];
  readonly onUserRemoved?: OnUserRemoved;
}

/** The grants of all features. */
export function grantsOfFeatures(features: readonly Feature[], db: Database): GrantSource {
  const sources = features.flatMap(({ grantSource }) => (grantSource ? [grantSource(db)] : []));
  const launches = features.flatMap(({ launchGrants }) => (launchGrants ? [launchGrants(db)] : []));
  return {
    async grantsOf(userId, now) {
      const grants = await Promise.all(sources.map((source) => source.grantsOf(userId, now)));
      const ends = grants.flatMap(({ endsAt }) => (endsAt === null ? [] : [endsAt.getTime()]));
      return {
        entries: grants.flatMap(({ entries }) => entries),
        endsAt: ends.length === 0 ? null : new Date(Math.min(...ends)),
      };
    },
    async grantsOfLaunch(launchId, userId, now) {
      const given = await Promise.all(launches.map((grantsOfLaunch) => grantsOfLaunch(launchId, userId, now)));
      return { entries: given.flatMap(({ entries }) => entries), mayChange: given.some(({ mayChange }) => mayChange) };
    },
  };
}

/**
 * Creates the features, in the order of the list. Throws an Error that names two features with the same endpoint: one of them
 * would never be called.
 */
export function createFeatures(
  features: readonly Feature[],
  services: TenantServices,
): { readonly endpoints: readonly Endpoint[]; readonly pages: readonly PageRoute[] } {
  const parts = features.map((feature) => ({ name: feature.name, ...feature.create(services) }));
  const declaredBy = new Map<string, string>();
  for (const { name, endpoints = [], onUserRemoved } of parts) {
    for (const { method, path } of endpoints) {
      const address = `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`;
      const other = declaredBy.get(address);
      if (other !== undefined) throw new Error(`the features ${other} and ${name} both declare ${address}`);
      declaredBy.set(address, name);
    }
    if (onUserRemoved) services.offboarding.register(onUserRemoved);
  }
  return { endpoints: parts.flatMap(({ endpoints = [] }) => endpoints), pages: parts.flatMap(({ pages = [] }) => pages) };
}
