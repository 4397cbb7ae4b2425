import { endpointsOf, type RegistrationSpec } from './presets.ts';

/** The parts of a registration's resource that may conflict with others of its tenant. */
interface Resource {
  readonly metadata: {
    readonly uid: string;
    readonly name: string;
    /** RFC 3339. */
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: RegistrationSpec & { readonly deploymentIds?: readonly string[] };
}

/** How a registration relates to the others of its tenant. */
export interface Relations<T> {
  /** The contradiction to an earlier one, and what to do about it; undefined: none. */
  readonly conflict: string | undefined;
  /** The accepted registrations of its LMS, the earliest first, including itself if it is accepted. */
  readonly peers: readonly T[];
}

/**
 * Returns whether a registration conflicts with an earlier one, and its peers. Of two contradicting registrations the earlier is
 * accepted: by creation time, then by name. Rejected or terminating registrations do not conflict with others. An LMS is an
 * issuer and a key set: registrations with one key set belong to one LMS, and those with another key set to another, even if both
 * name the same issuer.
 */
export function relationsOf<T extends Resource>(registration: T, all: readonly T[]): Relations<T> {
  const accepted: T[] = [];
  let conflict: string | undefined;
  const candidates = all.filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.clientId !== undefined);
  for (const one of candidates.toSorted(byAge)) {
    const message = accepted.map((earlier) => contradiction(one, earlier)).find((found) => found !== undefined);
    if (one.metadata.uid === registration.metadata.uid) conflict = message;
    if (message === undefined) accepted.push(one);
  }
  return { conflict, peers: accepted.filter(({ spec }) => isOneLms(spec, registration.spec)) };
}

function contradiction({ spec }: Resource, earlier: Resource): string | undefined {
  if (spec.platform.issuer !== earlier.spec.platform.issuer) return undefined;
  return isOneLms(spec, earlier.spec) ? contradictionAtLms(spec, earlier) : confusion(spec, earlier);
}

/** An LMS has one set of endpoints, and knows each client id once. */
function contradictionAtLms(spec: Resource['spec'], { spec: earlier, metadata: { name } }: Resource): string | undefined {
  const [own, its] = [endpointsOf(spec), endpointsOf(earlier)];
  const other = (['authEndpoint', 'tokenEndpoint', 'tokenAudience'] as const).find((field) => own[field] !== its[field]);
  if (other)
    return (
      `LtiRegistration ${name} is for the same LMS (same issuer and jwksEndpoint), but has another ${other}: ` +
      'use the same one in both, or give each the jwksEndpoint of its own LMS'
    );
  return spec.clientId === earlier.clientId
    ? `LtiRegistration ${name} already has clientId ${spec.clientId} of this LMS: add this one's deployments to its deploymentIds`
    : undefined;
}

/** Two LMSs with the same issuer may assign the same client id; then only the deployment tells their logins apart. */
function confusion(spec: Resource['spec'], { spec: earlier, metadata: { name } }: Resource): string | undefined {
  if (spec.clientId !== earlier.clientId) return undefined;
  const [own, its] = [spec.deploymentIds ?? [], earlier.deploymentIds ?? []];
  const of = `LtiRegistration ${name}, of another LMS with this issuer, has clientId ${spec.clientId} too`;
  if (own.length === 0 || its.length === 0)
    return `${of}: only deployments tell their launches apart. List the deployments of each in its spec.deploymentIds`;
  const shared = own.find((id) => its.includes(id));
  return shared === undefined ? undefined : `${of}, and lists deployment ${shared}: only one of them can have it`;
}

const isOneLms = (a: RegistrationSpec, b: RegistrationSpec): boolean =>
  a.platform.issuer === b.platform.issuer && endpointsOf(a).jwksEndpoint === endpointsOf(b).jwksEndpoint;

const byAge = (a: Resource, b: Resource): number =>
  order(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || order(a.metadata.name, b.metadata.name);

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
