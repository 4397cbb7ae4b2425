import { createHmac, timingSafeEqual } from 'node:crypto';
import { sha256Hex } from '../../runtime/sha256.ts';

/**
 * The target of a placed link as the LMS stores it, in the custom parameters of the link. A teacher can read, edit and copy
 * those, so a target is signed: it counts only as it was placed, and only for the registration that it was placed through.
 *
 * A target is `v1.<key id>.<payload>.<MAC>`, in base64url: it contains no `$`, which an LMS substitutes, and no `=`, which Moodle
 * mangles. The payload has four parts of 16 bytes: file, maker, course, registration. The MAC is HMAC-SHA256 over version and
 * payload.
 */
export interface PlacedTarget {
  /** uuid */
  readonly file: string;
  /** uuid of the user who placed the link: its right lasts as long as they could grant it. */
  readonly maker: string;
  /** Our id (the uuid of the group) of the course that it was placed in; null: in no course. */
  readonly course: string | null;
}

/**
 * The LMS and the tool there. A registration that is deleted and created again with the same client id counts as the same one.
 */
export interface TargetRegistration {
  readonly issuer: string;
  readonly clientId: string;
}

/** A tenant's key for targets (`TargetKeys`). */
export interface TargetKey {
  /** `[a-z0-9]{1,16}` */
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Buffer;
}

/**
 * Why a target is invalid. `target_malformed`: it has no known version. `target_key_unknown`: the tenant does not have, or no
 * longer has, the key that signed it. `target_altered`: its signature does not match. `target_foreign`: it was placed through
 * another registration.
 */
export type TargetFault = 'target_malformed' | 'target_key_unknown' | 'target_altered' | 'target_foreign';

export const TARGET_PARAMETER = 'carrel_target';

/**
 * Parameters beside the target: the LMS substitutes the ids of the links and courses that these were copied from (LTI Core 1.3,
 * appendix E), newest first. An LMS that does not know such a variable leaves it unchanged or omits it.
 */
export const HISTORY_PARAMETERS = {
  carrel_link_history: '$ResourceLink.id.history',
  carrel_course_history: '$Context.id.history',
} as const;

const TARGET = /^v1\.([a-z0-9]{1,16})\.([A-Za-z0-9_-]{86})\.([A-Za-z0-9_-]{43})$/;
const PART_BYTES = 16;

/** Returns the custom parameters of a link to this target. `key` is the signing key (`TargetKeys.current`). */
export function signPlacedTarget(key: TargetKey, target: PlacedTarget, registration: TargetRegistration): Record<string, string> {
  const ids = [target.file, target.maker, target.course ?? NO_COURSE].map(bytesOf);
  const payload = Buffer.concat([...ids, digestOf(registration)]).toString('base64url');
  return { [TARGET_PARAMETER]: `v1.${key.id}.${payload}.${macOf(key, payload).toString('base64url')}`, ...HISTORY_PARAMETERS };
}

/**
 * Returns the target in a launch's custom parameters, as the LMS signed them; undefined if it is not a placed link. `find`:
 * returns the tenant's key with this id.
 */
export function readPlacedTarget(
  find: (keyId: string) => TargetKey | undefined,
  custom: Readonly<Record<string, string>>,
  registration: TargetRegistration,
): { readonly target: PlacedTarget } | { readonly fault: TargetFault } | undefined {
  const text = custom[TARGET_PARAMETER];
  if (text === undefined || text === '') return undefined;
  const [, keyId = '', payload = '', mac = ''] = TARGET.exec(text) ?? [];
  if (keyId === '') return { fault: 'target_malformed' };
  const key = find(keyId);
  if (!key) return { fault: 'target_key_unknown' };
  if (!timingSafeEqual(macOf(key, payload), Buffer.from(mac, 'base64url'))) return { fault: 'target_altered' };
  const bytes = Buffer.from(payload, 'base64url');
  const [file, maker, course, registered] = [0, 1, 2, 3].map((part) =>
    bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES).toString('hex'),
  );
  if (registered !== digestOf(registration).toString('hex')) return { fault: 'target_foreign' };
  const courseId = uuidOf(course);
  return { target: { file: uuidOf(file), maker: uuidOf(maker), course: courseId === NO_COURSE ? null : courseId } };
}

/** Returns the id of the key that signed a target; undefined if there is no target. */
export const keyIdOf = (custom: Readonly<Record<string, string>>): string | undefined =>
  TARGET.exec(custom[TARGET_PARAMETER] ?? '')?.[1];

const NO_COURSE = '00000000-0000-0000-0000-000000000000';

const macOf = ({ secret }: TargetKey, payload: string): Buffer => createHmac('sha256', secret).update(`v1.${payload}`).digest();

const digestOf = ({ issuer, clientId }: TargetRegistration): Buffer =>
  Buffer.from(sha256Hex(JSON.stringify([issuer, clientId])), 'hex').subarray(0, PART_BYTES);

const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

const uuidOf = (hex = ''): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
