import { createHash } from 'node:crypto';
import { type CredentialName, CREDENTIALS } from '../../../store/postgres/registry.ts';
import type { Tenant } from '../../kinds.ts';
import { ROTATE_ANNOTATION } from '../../names.ts';
import type { AcceptedTenant } from '../acceptance.ts';

const ALL = 'all';
const UNIT_MS = { d: 86_400_000, h: 3_600_000 };
/** Tenants of one age do not all replace their pods at once: each is due within the last tenth of the time. */
const SPREAD = 0.1;

/** The credentials that the operator generates for a tenant: a key of storage that the tenant named is the tenant's to rotate. */
export const credentialsOf = ({ spec }: Tenant): CredentialName[] =>
  CREDENTIALS.filter((name) => name !== 'storage' || !spec.storage.credentialsSecretRef);

/** What the annotation `carrel.dev/rotate` asks for: names with commas between, or `all`. `unknown`: words of it that name no credential of this tenant. */
export function requestedRotations(tenant: Tenant): { names: CredentialName[]; unknown: string[] } {
  const words = (tenant.metadata.annotations?.[ROTATE_ANNOTATION] ?? '').split(',').map((word) => word.trim());
  const known = credentialsOf(tenant);
  const isKnown = (word: string): boolean => word === '' || word === ALL || known.some((name) => name === word);
  return { names: known.filter((name) => words.includes(name) || words.includes(ALL)), unknown: words.filter((word) => !isKnown(word)) };
}

/** RFC 3339, in seconds: when a credential was made. */
export const changedAt = ({ credentials, since }: Pick<AcceptedTenant, 'credentials' | 'since'>, name: CredentialName): Date =>
  new Date(credentials[name]?.changedAt ?? since);

/** Whether a credential is as old as `spec.credentials.rotateAfter` allows. */
export function isOld(tenant: Tenant, accepted: Pick<AcceptedTenant, 'credentials' | 'since'>, name: CredentialName, now: Date): boolean {
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
