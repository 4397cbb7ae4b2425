import { isDeepStrictEqual } from 'node:util';
import { isDeleting, type Observed } from '../../kube/object.ts';
import type { LtiRegistration } from '../kinds.ts';
import { endpointsOf } from './presets.ts';

/** What a registration is to the others of its tenant. */
export interface Standing {
  /** How it contradicts an earlier one; undefined when it does not. */
  readonly conflict: string | undefined;
  /** Those that share its issuer and are accepted, the earliest first; itself among them when it is. */
  readonly peers: readonly Observed<LtiRegistration>[];
}

/**
 * The earlier of two that contradict each other stands: who was created first, by name where that is equal.
 * One that is itself refused, or going, stands in nobody's way.
 */
export function standingOf(registration: Observed<LtiRegistration>, all: readonly Observed<LtiRegistration>[]): Standing {
  const accepted: Observed<LtiRegistration>[] = [];
  let conflict: string | undefined;
  const candidates = all.filter((other) => !isDeleting(other) && other.spec.clientId !== undefined);
  for (const one of candidates.toSorted(byAge)) {
    const message = accepted.map((earlier) => contradiction(one, earlier)).find((found) => found !== undefined);
    if (one.metadata.uid === registration.metadata.uid) conflict = message;
    if (message === undefined) accepted.push(one);
  }
  return { conflict, peers: accepted.filter(({ spec }) => spec.platform.issuer === registration.spec.platform.issuer) };
}

function contradiction({ spec }: LtiRegistration, earlier: LtiRegistration): string | undefined {
  if (spec.clientId === earlier.spec.clientId) return `LtiRegistration ${earlier.metadata.name} has clientId ${spec.clientId} already`;
  if (spec.platform.issuer !== earlier.spec.platform.issuer || isDeepStrictEqual(endpointsOf(spec), endpointsOf(earlier.spec)))
    return undefined;
  return `LtiRegistration ${earlier.metadata.name} names other endpoints for issuer ${spec.platform.issuer}`;
}

const byAge = (a: Observed<LtiRegistration>, b: Observed<LtiRegistration>): number =>
  order(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || order(a.metadata.name, b.metadata.name);

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
