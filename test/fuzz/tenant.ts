import type { StoreAddresses } from '../../pkg/local/platform.ts';
import { INSTRUCTOR, LEARNER } from '../../pkg/local/demo/lms/claims.ts';
import { launched } from '../support/lms/launched.ts';
import { registeredLms } from '../support/lms/registration.ts';
import { startTenant, type TestTenant } from '../support/programs/server.ts';

/** The roles whose tokens requests are sent with: who may do everything, who teaches, who reads. */
export const FUZZED_ROLES = ['admin', 'instructor', 'viewer'] as const;
export type FuzzedRole = (typeof FUZZED_ROLES)[number];

/** Values of parameters that name existing things, by the beginning of a path. The longest beginning wins. */
export type Known = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface FuzzedTenant {
  readonly tenant: TestTenant;
  /** For each role, a course of an LMS in which it takes part, with its content. */
  readonly known: Readonly<Record<FuzzedRole, Known>>;
  stop(): Promise<void>;
  readonly people: Readonly<Record<FuzzedRole, { readonly email: string; readonly password: string }>>;
}

const PASSWORD = 'correct horse battery';

/** Returns the values known for `path`. */
export const knownAt = (known: Known, path: string): Readonly<Record<string, string>> =>
  Object.assign({}, ...Object.entries(known).map(([beginning, values]) => (path.startsWith(beginning) ? values : {})));

/**
 * A tenant with a person of each role (and another, `other-…`, whose sign-in is fuzzed), a course at an LMS that all of them have
 * launched from, room for everything, and the network that a request says it comes from (so that none is used up).
 */
export async function fuzzedTenant(stores?: StoreAddresses): Promise<FuzzedTenant> {
  const tenant = await startTenant({ trustedProxies: 1, ...(stores ? { stores } : {}) });
  const person = async (role: FuzzedRole): Promise<{ email: string; password: string; id: number }> => {
    const email = `${role}@fuzz.example.org`;
    const [made] = await Promise.all(
      [email, `other-${email}`].map((each) => tenant.user({ email: each, roles: [role], password: PASSWORD })),
    );
    const [row] = await tenant.db.query<{ id: number }>('SELECT id FROM users WHERE uuid = $1', [made?.user.id]);
    return { email, password: PASSWORD, id: row?.id ?? 0 };
  };
  const people = { admin: await person('admin'), instructor: await person('instructor'), viewer: await person('viewer') };
  const at = await registeredLms(tenant);
  const course = { id: 'fuzzed', title: 'Fuzzed' };
  const launch = async (role: FuzzedRole) => {
    await tenant.db.query('INSERT INTO lti_identities (platform_id, subject, user_id) VALUES ($1, $2, $3)', [
      at.platformId,
      role,
      people[role].id,
    ]);
    return launched(tenant, at, { user: { id: role }, roles: [role === 'viewer' ? LEARNER : INSTRUCTOR], course });
  };
  const launches = { admin: await launch('admin'), instructor: await launch('instructor'), viewer: await launch('viewer') };
  const { api, grades } = launches.instructor;
  const context: string = (await api.get('/lti/contexts')).body.data[0].id;
  const item: string = (await api.post(`/lti/contexts/${context}/line-items`, { label: 'Fuzzed', score_maximum: 10 })).body.id;
  const grade: string = (await api.post(grades, { user_id: 'viewer', score: 1, score_maximum: 10 })).body.id;
  const registration: string = (await tenant.admin.get('/lti/registrations')).body.data[0].id;
  const knownBy = (role: FuzzedRole): Known => ({
    '/lti/contexts/{id}': { id: context, line_item_id: item },
    '/lti/grades/{id}': { id: grade },
    '/lti/launches/{launch_id}': { launch_id: (role === 'viewer' ? launches.viewer : launches.instructor).launchId, id: grade },
    '/lti/registrations/{id}': { id: registration },
  });
  return {
    tenant,
    people,
    known: { admin: knownBy('admin'), instructor: knownBy('instructor'), viewer: knownBy('viewer') },
    stop: async () => {
      await at.lms.stop();
      await tenant.stop();
    },
  };
}
