import type { Tx } from '../../store/postgres/database.ts';
import type { LaunchContext, NewLaunch } from '../launch/launch.sql.ts';
import { courseRole } from '../launch/launch-roles.policy.ts';
import type { SyncedUser } from '../launch/user-sync.ts';
import { adoptByWord, adoptCourse } from './course-copies.sql.ts';
import { keyIdOf, type PlacedTarget, readPlacedTarget, TARGET_PARAMETER, type TargetFault } from './placed-target.policy.ts';
import type { TargetKeys } from './target-keys.ts';

const RECORD = `
  INSERT INTO lti_resource_links AS k
    (tool_id, deployment_id, context_id, resource_link_id, title, target, fault, key_id, file_uuid, maker_uuid, course_uuid)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
  ON CONFLICT ON CONSTRAINT lti_resource_links_key DO UPDATE SET title = coalesce(excluded.title, k.title),
    target = excluded.target,
    fault = excluded.fault, key_id = excluded.key_id, file_uuid = excluded.file_uuid, maker_uuid = excluded.maker_uuid,
    course_uuid = excluded.course_uuid, updated_at = now()`;

/** The result of reading a target in a custom parameter. */
interface Read {
  readonly keyId: string | null;
  readonly fault: TargetFault | null;
  readonly target: PlacedTarget | undefined;
}

/** Returns whether the course belongs to another LMS: one with the same issuer and client id passes the digest of a target. */
async function isOfAnotherLms(tx: Tx, course: string | null, platformId: number): Promise<boolean> {
  if (course === null) return false;
  const found = await tx.query('SELECT FROM groups WHERE uuid = $1 AND platform_id <> $2', [course, platformId]);
  return found.length > 0;
}

/**
 * Records resource links from their launches.
 *
 * Invariants:
 * - A record names a file only if a key of the tenant signed it, for the registration of the launch.
 * - A course becomes a copy of another through an instructor of both, or through the platform itself: a claim of its own, or a
 *   notice. The history in the custom parameters is no proof: a teacher can edit them.
 */
export class LinkSync {
  readonly #keys: TargetKeys;

  constructor(deps: { keys: TargetKeys }) {
    this.#keys = deps.keys;
  }

  /**
   * Records the link, and records the course as a copy if it is one. Runs after the course was synced. No statement if nothing
   * changed.
   */
  async sync(tx: Tx, { isLinkUnchanged }: LaunchContext, user: SyncedUser, { registration, message }: NewLaunch): Promise<void> {
    const { deploymentId, resourceLinkId, link, context, roles, forUser, courseHistory: history } = message;
    if (isLinkUnchanged || resourceLinkId === undefined || forUser !== undefined) return;
    const { keyId, fault, target } = await this.#read(tx, link.target, registration);
    const contextId = context?.id ?? '';
    const ids = [target?.file ?? null, target?.maker ?? null, target?.course ?? null];
    const values = [registration.toolId, deploymentId, contextId, resourceLinkId, link.title ?? null, link.target ?? null];
    await tx.query(RECORD, [...values, fault, keyId, ...ids]);
    if (!target?.course || contextId === '') return;
    const copy = { platformId: registration.platformId, contextId, origin: target.course };
    if (history.length > 0) await adoptByWord(tx, { ...copy, history });
    if (courseRole(roles) === 'instructor') await adoptCourse(tx, { ...copy, userId: user.id });
  }

  async #read(tx: Tx, text: string | undefined, registration: NewLaunch['registration']): Promise<Read> {
    if (text === undefined) return { keyId: null, fault: null, target: undefined };
    const custom = { [TARGET_PARAMETER]: text };
    const keyId = keyIdOf(custom);
    const key = keyId === undefined ? undefined : await this.#keys.find(tx, keyId);
    const read = readPlacedTarget((id) => (id === key?.id ? key : undefined), custom, registration);
    if (!read) return { keyId: null, fault: null, target: undefined };
    if ('fault' in read) return { keyId: null, fault: read.fault, target: undefined };
    if (await isOfAnotherLms(tx, read.target.course, registration.platformId))
      return { keyId: null, fault: 'target_foreign', target: undefined };
    return { keyId: key?.id ?? null, fault: null, target: read.target };
  }
}
