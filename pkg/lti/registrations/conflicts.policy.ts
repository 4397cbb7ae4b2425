import { isDeepStrictEqual } from 'node:util';
import { endpointsOf, type RegistrationSpec } from './presets.ts';

/** A registration as its resource describes it, as far as others of its tenant may conflict with it. */
interface Resource {
  readonly metadata: {
    readonly uid: string;
    readonly name: string;
    /** RFC 3339. */
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: RegistrationSpec;
}

/** How a registration relates to the others of its tenant. */
export interface Relations<T> {
  /** How it contradicts an earlier one; undefined when it does not. */
  readonly conflict: string | undefined;
  /** The accepted ones of its issuer, the earliest first; itself among them when it is accepted. */
  readonly peers: readonly T[];
}

/** Of two registrations that contradict each other the earlier is accepted: by creation time, then by name. Rejected or terminating registrations do not conflict with others. */
export function relationsOf<T extends Resource>(registration: T, all: readonly T[]): Relations<T> {
  const accepted: T[] = [];
  let conflict: string | undefined;
  const candidates = all.filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.clientId !== undefined);
  for (const one of candidates.toSorted(byAge)) {
    const message = accepted.map((earlier) => contradiction(one, earlier)).find((found) => found !== undefined);
    if (one.metadata.uid === registration.metadata.uid) conflict = message;
    if (message === undefined) accepted.push(one);
  }
  return { conflict, peers: accepted.filter(({ spec }) => spec.platform.issuer === registration.spec.platform.issuer) };
}

function contradiction({ spec }: Resource, earlier: Resource): string | undefined {
  if (spec.clientId === earlier.spec.clientId) return `LtiRegistration ${earlier.metadata.name} has clientId ${spec.clientId} already`;
  if (spec.platform.issuer !== earlier.spec.platform.issuer || isDeepStrictEqual(endpointsOf(spec), endpointsOf(earlier.spec)))
    return undefined;
  return `LtiRegistration ${earlier.metadata.name} names other endpoints for issuer ${spec.platform.issuer}`;
}

const byAge = (a: Resource, b: Resource): number =>
  order(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || order(a.metadata.name, b.metadata.name);

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
