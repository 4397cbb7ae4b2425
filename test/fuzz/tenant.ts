import { startTenant, type TestTenant } from '../support/server.ts';
import type { StoreAddresses } from '../../pkg/local/platform.ts';

/** The roles whose tokens requests are sent with: who may do everything, who teaches, who reads. */
export const FUZZED_ROLES = ['admin', 'instructor', 'viewer'] as const;
export type FuzzedRole = (typeof FUZZED_ROLES)[number];

export interface FuzzedTenant {
  readonly tenant: TestTenant;
  readonly people: Readonly<Record<FuzzedRole, { readonly email: string; readonly password: string }>>;
}

const PASSWORD = 'correct horse battery';

/** A tenant with a person of each role (and another, `other-…`, whose sign-in is fuzzed), room for everything, and the network that a request says it comes from (so that none is used up). */
export async function fuzzedTenant(stores?: StoreAddresses): Promise<FuzzedTenant> {
  const tenant = await startTenant({ trustedProxies: 1, ...(stores ? { stores } : {}) });
  const person = async (role: FuzzedRole): Promise<{ email: string; password: string }> => {
    const email = `${role}@fuzz.example.org`;
    for (const each of [email, `other-${email}`]) await tenant.user({ email: each, roles: [role], password: PASSWORD });
    return { email, password: PASSWORD };
  };
  return { tenant, people: { admin: await person('admin'), instructor: await person('instructor'), viewer: await person('viewer') } };
}
