import { createHash } from 'node:crypto';
import { type CredentialName, CREDENTIALS } from '../../../store/postgres/registry.ts';
import type { Tenant } from '../../kinds.ts';
import { ROTATE_ANNOTATION } from '../../names.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';
import { HOUR_MS, DAY_MS } from '../../../runtime/time.ts';

const ALL = 'all';
/** The limit in the definition of `status.rotation.request`. */
const MAX_REQUEST = 200;
const REPEAT_MS = 600_000;
const UNIT_MS = { d: DAY_MS, h: HOUR_MS };
/** Spreads the rotations of tenants of the same age: each is due within the last tenth of the time. */
const SPREAD = 0.1;

/**
 * Returns the credentials that the operator generates for a tenant. Keys of storage that the tenant named are the tenant's to
 * rotate.
 */
export const credentialsOf = ({ spec }: Tenant): CredentialName[] =>
  CREDENTIALS.filter((name) => name !== 'storage' || !spec.storage.credentialsSecretRef);

/** The request in the annotation `carrel.dev/rotate`. */
interface RotationRequest {
  /** The whole value. */
  readonly text: string;
  readonly names: CredentialName[];
  /** Words that name no credential of this tenant. */
  readonly unknown: string[];
}

/** Parses `redis`, `database,redis` or `all`, each with or without a mark after `/`: `redis/2026-09-01`. */
export function requestedRotations(tenant: Tenant): RotationRequest {
  const text = (tenant.metadata.annotations?.[ROTATE_ANNOTATION] ?? '').trim();
  if (text.length > MAX_REQUEST) return { text, names: [], unknown: [`a value of more than ${MAX_REQUEST} characters`] };
  const words = namesIn(text)
    .split(',')
    .map((word) => word.trim());
  const known = credentialsOf(tenant);
  const isKnown = (word: string): boolean => word === '' || word === ALL || known.some((name) => name === word);
  const names = known.filter((name) => words.includes(name) || words.includes(ALL));
  return { text, names, unknown: words.filter((word) => !isKnown(word)) };
}

const namesIn = (text: string): string => text.split('/', 1)[0] ?? '';

/** A value with a mark stays on the Tenant, as in a repository, and is one wish however often it is applied. */
export const hasMark = (text: string): boolean => text.includes('/');

/**
 * Returns the time from which a request is followed, or undefined if it was followed and is not a new one. A request without a
 * mark is removed when it is followed. It may be a new request each time, or a tool may apply it repeatedly, so it is followed at
 * most every 10 minutes.
 */
export function wishedFrom(text: string, followed: NonNullable<Tenant['status']>['rotation']): Date | undefined {
  if (followed?.request !== text) return new Date(0);
  return hasMark(text) ? undefined : new Date(Date.parse(followed.at) + REPEAT_MS);
}

/** Returns the time when a credential was created (RFC 3339, in seconds). */
export const changedAt = ({ credentials, since }: Pick<AcceptedTenant, 'credentials' | 'since'>, name: CredentialName): Date =>
  new Date(credentials[name]?.changedAt ?? since);

/** Returns whether a credential is as old as `spec.credentials.rotateAfter` allows. */
export function isOld(
  tenant: Tenant,
  accepted: Pick<AcceptedTenant, 'credentials' | 'since'>,
  name: CredentialName,
  now: Date,
): boolean {
  const [, count, unit] = /^(\d+)([dh])$/.exec(tenant.spec.credentials?.rotateAfter ?? '') ?? [];
  if (count === undefined) return false;
  const wholeMs = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  const share =
    createHash('sha256')
      .update(tenant.metadata.uid ?? '')
      .digest()
      .readUInt16BE() / 0x1_00_00;
  return now.getTime() - changedAt(accepted, name).getTime() >= wholeMs * (1 - SPREAD * share);
}
