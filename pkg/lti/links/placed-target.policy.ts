import { createHmac, timingSafeEqual } from 'node:crypto';
import { sha256Hex } from '../../runtime/sha256.ts';

/**
 * The target of a placed link as the LMS keeps it, in the custom parameters of the link. A teacher can read, edit and copy those,
 * so a target is signed: what it names counts only as it was placed, and only for the registration that it was placed through.
 *
 * A target is `v1.<key id>.<payload>.<MAC>`, in base64url: nothing of it is a `$`, which an LMS substitutes, nor a `=`, which
 * Moodle mangles. The payload has four parts of 16 bytes: file, maker, course, registration. The MAC is HMAC-SHA256 over version
 * and payload.
 */
export interface PlacedTarget {
  /** uuid */
  readonly file: string;
  /** uuid of the user who placed the link: its right lasts as long as they could give it. */
  readonly maker: string;
  /** The course that it was placed in, by our id (the uuid of its group); null: in none. */
  readonly course: string | null;
}

/**
 * Of which LMS, and as which of its tools. A registration that is deleted and made again with the same client id is the same one.
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
 * Why a target counts for nothing: `target_malformed`: it is no target of any version that is known; `target_key_unknown`: a key
 * signed it that this tenant does not have, or no longer; `target_altered`: its signature does not fit; `target_foreign`: it was
 * placed through another registration.
 */
export type TargetFault = 'target_malformed' | 'target_key_unknown' | 'target_altered' | 'target_foreign';

export const TARGET_PARAMETER = 'carrel_target';

/**
 * Beside the target: the LMS substitutes the ids that link and course had where they were copied from (LTI Core 1.3, appendix E),
 * newest first. An LMS that knows no such variable leaves it as it is, or leaves it out.
 */
export const HISTORY_PARAMETERS = {
  carrel_link_history: '$ResourceLink.id.history',
  carrel_course_history: '$Context.id.history',
} as const;

const TARGET = /^v1\.([a-z0-9]{1,16})\.([A-Za-z0-9_-]{86})\.([A-Za-z0-9_-]{43})$/;
const PART_BYTES = 16;

/** The custom parameters of a link to this target. `key` is the one that signs (`TargetKeys.current`). */
export function signPlacedTarget(key: TargetKey, target: PlacedTarget, registration: TargetRegistration): Record<string, string> {
  const ids = [target.file, target.maker, target.course ?? NO_COURSE].map(bytesOf);
  const payload = Buffer.concat([...ids, digestOf(registration)]).toString('base64url');
  return { [TARGET_PARAMETER]: `v1.${key.id}.${payload}.${macOf(key, payload).toString('base64url')}`, ...HISTORY_PARAMETERS };
}

/**
 * The target in a launch's custom parameters, as the LMS signed them; undefined: there is none, so it is no placed link.
 * `find`: the tenant's key of this id.
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

/** The id of the key that signed a target; undefined: there is no target. */
export const keyIdOf = (custom: Readonly<Record<string, string>>): string | undefined =>
  TARGET.exec(custom[TARGET_PARAMETER] ?? '')?.[1];

const NO_COURSE = '00000000-0000-0000-0000-000000000000';

const macOf = ({ secret }: TargetKey, payload: string): Buffer => createHmac('sha256', secret).update(`v1.${payload}`).digest();

const digestOf = ({ issuer, clientId }: TargetRegistration): Buffer =>
  Buffer.from(sha256Hex(JSON.stringify([issuer, clientId])), 'hex').subarray(0, PART_BYTES);

const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

const uuidOf = (hex = ''): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
