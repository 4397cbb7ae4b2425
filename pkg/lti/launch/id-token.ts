import { constants, type KeyObject, verify, type VerifyKeyObjectInput } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { decodeJwt } from 'jose/jwt/decode';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { isInvisible, withoutBidiControls } from '../../content/model/names/names.policy.ts';
import { isTakenAlgorithm, type PlatformKeys } from './platform-keys.ts';
import { LaunchError } from '../launch-error.ts';
import { courseHistory } from '../links/course-history.policy.ts';
import { TARGET_PARAMETER } from '../links/placed-target.policy.ts';
import { isNestedTooDeep } from '../nested.ts';
import { courseRole } from './launch-roles.policy.ts';
import { NOTICE_TYPES } from '../notices/notice-types.ts';
import { DEEP_LINKING_SETTINGS, type DeepLinkingSettings, deepLinkingSettings } from '../deep-linking/settings.policy.ts';
import { offerOf } from '../deep-linking/offer.policy.ts';

/** The namespace of LTI 1.3 claims. */
export const LTI = 'https://purl.imsglobal.org/spec/lti/claim';
const AGS_CLAIM = 'https://purl.imsglobal.org/spec/lti-ags/claim/endpoint';
const NRPS_CLAIM = 'https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice';

/** The message type of a launch of a link. */
const RESOURCE_LINK = 'LtiResourceLinkRequest';
/** The message type of a submission review. */
const REVIEW = 'LtiSubmissionReviewRequest';
/** The message type of a deep linking request. */
const DEEP_LINKING = 'LtiDeepLinkingRequest';

const MESSAGES: readonly unknown[] = [RESOURCE_LINK, DEEP_LINKING, REVIEW];

/** How far the clocks of the LMS and of this server may differ (docs/design/lti.md, A launch). */
export const LEEWAY_SECONDS = 30;
const ID_MAX = 255;
/** docs/design/records.md, LTI: issuer. */
const ISSUER_MAX = 500;
const URL_MAX = 2048;
/** Longer than any target; a longer value is not a target. */
const TARGET_MAX = 200;
/** A person's id: `sub` (OpenID Connect Core §2). */
export const ASCII_ID = /^[\x20-\x7e]{1,255}$/;

/** A launch with the values that the platform signed. */
export interface LaunchMessage {
  readonly subject: string;
  readonly name: string | undefined;
  readonly email: string | undefined;
  readonly deploymentId: string;
  /** The link's title, and the target among its custom parameters as the LMS sent it: not parsed yet, and cut at TARGET_MAX. */
  readonly link: { readonly title: string | undefined; readonly target: string | undefined };
  /** undefined: the message is not a launch of a link. */
  readonly resourceLinkId: string | undefined;
  /** The settings of a deep linking request; undefined: the message is not one. */
  readonly deepLinking: DeepLinkingSettings | undefined;
  /** The LMS's id of the person whose hand-in a submission review shows; undefined: the message is not a review. */
  readonly forUser: string | undefined;
  readonly roles: readonly string[];
  /** `title` is never empty. If the LMS sent none, it is a substitute, which does not rename the course. */
  readonly context:
    | { readonly id: string; readonly title: string; readonly isTitled: boolean; readonly label: string | undefined }
    | undefined;
  /** Ids of the courses that this one is a copy of, according to the platform itself. */
  readonly courseHistory: readonly string[];
  readonly ags:
    | { readonly lineitems: string | undefined; readonly lineitem: string | undefined; readonly scopes: readonly string[] }
    | undefined;
  readonly nrpsUrl: string | undefined;
  /** The platform's address for registering our notice handler, if it sends any notices that Carrel processes. */
  readonly noticesUrl: string | undefined;
  /** The address to which the platform wants the person to return (launch_presentation.return_url). */
  readonly returnUrl: string | undefined;
  /** The platform's own address (tool_platform.url). */
  readonly platformUrl: string | undefined;
}

/** The values that the token must match. */
export interface Expected {
  readonly issuer: string;
  readonly clientId: string;
  readonly nonce: string;
  /** `origin` of the tenant's app address and of its LTI address. */
  readonly origins: ReadonlySet<string>;
  readonly now: Date;
}

/** An id_token as it was posted: none of it is verified. */
export interface UnverifiedToken {
  readonly text: string;
  readonly claims: JWTPayload;
}

/** Throws LaunchError `id_token_…`. */
export function unverifiedToken(text: string | undefined): UnverifiedToken {
  if (text === undefined || text === '') throw new LaunchError('id_token_missing');
  const claims = claimsIn(text);
  if (isNestedTooDeep(claims)) throw new LaunchError('id_token_malformed');
  return { text, claims };
}

function claimsIn(text: string): JWTPayload {
  try {
    return decodeJwt(text);
  } catch (error) {
    throw new LaunchError('id_token_malformed', undefined, { cause: error });
  }
}

/** The issuer that the token names, unverified. It may only select the registered origin to ask, nothing else. */
export const unverifiedIssuer = ({ claims }: UnverifiedToken): string => storable(claims.iss, ISSUER_MAX);

/**
 * Returns the claims once their signature is verified (docs/design/lti.md, A launch; 1EdTech Security Framework §5.1.3). Throws
 * LaunchError.
 */
export async function requireSignature(
  { text, claims }: UnverifiedToken,
  keys: PlatformKeys,
  keySetAddress: string,
): Promise<JWTPayload> {
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(text);
  } catch (error) {
    throw new LaunchError('id_token_malformed', undefined, { cause: error });
  }
  if (!isTakenAlgorithm(header.alg)) throw new LaunchError('alg_refused');
  if (header.crit !== undefined) throw new LaunchError('crit_refused');
  if (typeof header.kid !== 'string' || header.kid === '') throw new LaunchError('kid_missing');
  const key = await keys.key(keySetAddress, header.kid, header.alg);
  if (!isSigned(text, header.alg, key)) throw new LaunchError('signature_invalid');
  return claims;
}

/** RFC 7515 §5.2, with node:crypto: jose's path through WebCrypto takes twice the CPU time. `key` fits `alg`. */
function isSigned(idToken: string, alg: string, key: KeyObject): boolean {
  const end = idToken.lastIndexOf('.');
  const signature = idToken.slice(end + 1);
  if (!/^[A-Za-z0-9_-]+$/.test(signature)) return false;
  const signed = Buffer.from(idToken.slice(0, end));
  try {
    return verify(`sha${alg.slice(2)}`, signed, verifierOf(alg, key), Buffer.from(signature, 'base64url'));
  } catch {
    return false; // OpenSSL refuses the key or the signature; jose behaves the same.
  }
}

/** A plain key costs half as much as a key with settings. */
function verifierOf(alg: string, key: KeyObject): KeyObject | VerifyKeyObjectInput {
  // RFC 7518 §3.4: an ECDSA signature is R and S, not their DER.
  if (alg.startsWith('ES')) return { key, dsaEncoding: 'ieee-p1363' };
  // RFC 7518 §3.5: the salt is as long as the digest.
  if (alg.startsWith('PS'))
    return { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return key;
}

/** Checks every rule on the claims of a launch, a deep linking request or a submission review, each with its own code. */
export function requireClaims(claims: JWTPayload, expected: Expected): LaunchMessage {
  requireParties(claims, expected);
  requireTimes(claims, Math.floor(expected.now.getTime() / 1000));
  if (claims.nonce === undefined) throw new LaunchError('nonce_missing');
  if (claims.nonce !== expected.nonce) throw new LaunchError('nonce_mismatch');
  requireMessage(claims, expected.origins);
  return messageOf(claims);
}

/** OpenID Connect Core §3.1.3.7, 2–5. */
export function requireParties({ iss, aud, azp }: JWTPayload, { issuer, clientId }: Pick<Expected, 'issuer' | 'clientId'>): void {
  if (iss !== issuer) throw new LaunchError('issuer_mismatch');
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(clientId)) throw new LaunchError('audience_mismatch');
  const party = authorizedParty(azp);
  if (audiences.length > 1 && party === undefined) throw new LaunchError('azp_missing');
  if (party !== undefined && party !== clientId)
    throw new LaunchError('azp_mismatch', `It names ${party}; the registration's client id is ${clientId}.`);
}

/** Some platforms send null or "" if they have no value. */
export function authorizedParty(azp: unknown): string | undefined {
  if (azp === undefined || azp === null || azp === '') return undefined;
  return shown(typeof azp === 'string' ? azp : JSON.stringify(azp)) ?? '""';
}

/** Checks the times by both clocks, which may differ by LEEWAY_SECONDS; `now` in seconds. Throws LaunchError. */
export function requireTimes({ exp, iat, nbf }: JWTPayload, now: number): void {
  if (!isTime(exp)) throw new LaunchError('exp_missing');
  if (exp + LEEWAY_SECONDS <= now) throw new LaunchError('id_token_expired');
  if (!isTime(iat)) throw new LaunchError('iat_missing');
  if (iat - LEEWAY_SECONDS > now) throw new LaunchError('iat_in_future');
  if (nbf !== undefined && !(isTime(nbf) && nbf - LEEWAY_SECONDS <= now)) throw new LaunchError('not_yet_valid');
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** LTI Core 1.3 §5.3. */
function requireMessage(claims: JWTPayload, origins: ReadonlySet<string>): void {
  const type = claims[`${LTI}/message_type`];
  if (type === undefined) throw new LaunchError('message_type_missing');
  if (!MESSAGES.includes(type)) throw new LaunchError('message_type_unsupported');
  if (claims[`${LTI}/version`] !== '1.3.0') throw new LaunchError('version_unsupported');
  if (storable(claims[`${LTI}/deployment_id`]) === '') throw new LaunchError('deployment_id_missing');
  const target = claims[`${LTI}/target_link_uri`];
  // Deep Linking 2.0 §4.4 has no target: the link does not exist yet.
  if (type === DEEP_LINKING && (target === undefined || target === null)) return;
  requireTarget(target, origins);
}

/** Returns the settings of a verified deep linking request; undefined if the message is not one. Throws LaunchError. */
export const deepLinkingOf = (claims: JWTPayload): DeepLinkingSettings | undefined =>
  claims[`${LTI}/message_type`] === DEEP_LINKING ? deepLinkingSettings(claims[DEEP_LINKING_SETTINGS]) : undefined;

/** The target_link_uri must be on an address of the tenant. */
export function requireTarget(target: unknown, origins: ReadonlySet<string>): void {
  if (typeof target !== 'string' || target === '') throw new LaunchError('target_link_uri_missing');
  if (!URL.canParse(target) || !origins.has(new URL(target).origin)) throw new LaunchError('target_link_uri_foreign');
}

function messageOf(claims: JWTPayload): LaunchMessage {
  if (claims.sub === undefined || claims.sub === null || claims.sub === '') throw new LaunchError('anonymous_launch');
  if (typeof claims.sub !== 'string' || !ASCII_ID.test(claims.sub)) throw new LaunchError('sub_invalid');
  const isReview = claims[`${LTI}/message_type`] === REVIEW;
  const resourceLinkId = claims[`${LTI}/message_type`] === DEEP_LINKING ? undefined : linkOf(claims, isReview);
  const roles = claims[`${LTI}/roles`];
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) throw new LaunchError('roles_missing');
  return {
    subject: claims.sub,
    name: nameOf(claims),
    email: typeof claims.email === 'string' ? claims.email : undefined,
    deploymentId: storable(claims[`${LTI}/deployment_id`]),
    resourceLinkId,
    link: titledTarget(claims),
    deepLinking: requireDeepLinking(claims, roles as string[]),
    forUser: isReview ? reviewedIn(claims, roles as string[]) : undefined,
    roles: (roles as string[]).filter((role) => storable(role) !== ''),
    context: contextOf(claims[`${LTI}/context`]),
    courseHistory: courseHistory(claims).filter((id) => storable(id) !== ''),
    ags: agsOf(claims[AGS_CLAIM]),
    nrpsUrl: urlOf((claims[NRPS_CLAIM] as { context_memberships_url?: unknown } | null | undefined)?.context_memberships_url),
    noticesUrl: noticesUrlOf(claims[`${LTI}/platformnotificationservice`]),
    returnUrl: returnUrlOf(claims),
    platformUrl: urlOf((claims[`${LTI}/tool_platform`] as { url?: unknown } | null | undefined)?.url),
  };
}

const returnUrlOf = (claims: JWTPayload): string | undefined =>
  urlOf((claims[`${LTI}/launch_presentation`] as { return_url?: unknown } | null | undefined)?.return_url);

/**
 * Like `deepLinkingOf`, and requires that the person may answer. A refusal includes the way back, since the LMS's page waits for
 * an answer.
 */
function requireDeepLinking(claims: JWTPayload, roles: readonly string[]): DeepLinkingSettings | undefined {
  try {
    const settings = deepLinkingOf(claims);
    if (settings) offerOf(settings, roles);
    return settings;
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    throw new LaunchError(error.code, undefined, { cause: error, wayBack: returnUrlOf(claims) });
  }
}

/** LTI Core 1.3 §5.3.5 and §5.4.6. A target that cannot be stored counts as unreadable. */
function titledTarget(claims: JWTPayload): LaunchMessage['link'] {
  const title = shown((claims[`${LTI}/resource_link`] as { title?: unknown } | null | undefined)?.title);
  const target = (claims[`${LTI}/custom`] as Record<string, unknown> | null | undefined)?.[TARGET_PARAMETER];
  if (target === undefined || target === null || target === '') return { title, target: undefined };
  return { title, target: storable(typeof target === 'string' ? target.slice(0, TARGET_MAX) : target) || '-' };
}

/** A submission review may name only the line item. */
function linkOf(claims: JWTPayload, isReview: boolean): string | undefined {
  const id = storable((claims[`${LTI}/resource_link`] as { id?: unknown } | null | undefined)?.id);
  if (id !== '') return id;
  if (isReview && agsOf(claims[AGS_CLAIM])?.lineitem !== undefined) return undefined;
  throw new LaunchError('resource_link_missing');
}

/** Submission Review 1.0: for_user. Instructors review everyone, others only themselves. */
function reviewedIn(claims: JWTPayload, roles: readonly string[]): string {
  const { user_id: id } = (claims[`${LTI}/for_user`] ?? {}) as { user_id?: unknown };
  if (typeof id !== 'string' || !ASCII_ID.test(id)) throw new LaunchError('for_user_missing');
  if (id !== claims.sub && courseRole(roles) !== 'instructor') throw new LaunchError('review_not_allowed');
  return id;
}

/** Returns the name from the claims of a token, or from an entry of a roster, which has the same fields. */
export const nameOf = ({ name, given_name: given, family_name: family }: Readonly<Record<string, unknown>>): string | undefined =>
  shown(name) ?? shown([given, family].filter((part) => typeof part === 'string').join(' '));

function contextOf(claim: unknown): LaunchMessage['context'] {
  if (claim === undefined || claim === null) return undefined;
  const { id, title, label } = claim as { id?: unknown; title?: unknown; label?: unknown };
  const contextId = storable(id);
  if (contextId === '') throw new LaunchError('context_invalid');
  const said = shown(title);
  return {
    id: contextId,
    title: said ?? shown(label) ?? shown(contextId) ?? 'Course',
    isTitled: said !== undefined,
    label: shown(label),
  };
}

function agsOf(claim: unknown): LaunchMessage['ags'] {
  if (typeof claim !== 'object' || claim === null) return undefined;
  const { lineitems, lineitem, scope } = claim as { lineitems?: unknown; lineitem?: unknown; scope?: unknown };
  const scopes = Array.isArray(scope) ? scope.filter((item) => storable(item) !== '').map(String) : [];
  return { lineitems: urlOf(lineitems), lineitem: urlOf(lineitem), scopes };
}

/** Platform Notification Service 1.0: the claim of each launch. */
function noticesUrlOf(claim: unknown): string | undefined {
  const { platform_notification_service_url: url, notice_types_supported: types } = (claim ?? {}) as Record<string, unknown>;
  return Array.isArray(types) && NOTICE_TYPES.some((type) => types.includes(type)) ? urlOf(url) : undefined;
}

/**
 * An address for later use; Moodle sends "" if it has none. Its destination is checked on connecting. The URL standard ignores
 * control characters and lone surrogates, which the database rejects.
 */
const urlOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= URL_MAX && /^https?:\/\/\P{Cc}+$/u.test(value) && URL.canParse(value)
    ? value.toWellFormed()
    : undefined;

/** An id that fits its column; '' for anything else. */
export const storable = (value: unknown, max = ID_MAX): string =>
  typeof value === 'string' && value.length <= max && value.isWellFormed() && !value.includes('\0') ? value : '';

/** Audiences of an unverified token; bounded, since anyone may send one. */
export const audiencesOf = (aud: string | string[] | undefined): string[] =>
  [aud ?? []]
    .flat()
    .slice(0, 10)
    .map((audience) => storable(audience))
    .filter(Boolean);

/**
 * Text for people that fits its column, without control characters or characters that reverse the direction of text. Undefined:
 * no visible text is left.
 */
function shown(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = Array.from(
    withoutBidiControls(value.toWellFormed())
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim(),
  )
    .slice(0, ID_MAX)
    .join('');
  return isInvisible(text) ? undefined : text;
}
