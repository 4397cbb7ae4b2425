import { sourceOf } from '../pages/frame-ancestors.policy.ts';
import { LaunchError, type LaunchErrorCode } from '../launch-error.ts';

export const DEEP_LINKING_SETTINGS = 'https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings';

/** The items that the platform asks for, and the address to return them to (Deep Linking 2.0 §4.4.1). */
export interface DeepLinkingSettings {
  /** An https address, or http on this machine. Its origin is a valid CSP source. */
  readonly returnUrl: string;
  readonly acceptTypes: readonly string[];
  /** `type/subtype`, with `*` for all subtypes or all types, in lower case; undefined: any. */
  readonly mediaTypes: readonly string[] | undefined;
  readonly acceptMultiple: boolean;
  /** undefined: the platform does not say. */
  readonly acceptLineItem: boolean | undefined;
  /** Must be returned byte for byte. */
  readonly data: string | undefined;
}

const URL_MAX = 2048;
const LOOPBACK = /^http:\/\/(?:localhost|(?:[a-z0-9-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/** Checks every rule on the claim, each with its own code. `claim`: its value in a verified id_token. Throws LaunchError. */
export function deepLinkingSettings(claim: unknown): DeepLinkingSettings {
  if (typeof claim !== 'object' || claim === null || Array.isArray(claim)) throw new LaunchError('deep_linking_settings_missing');
  const said = claim as Readonly<Record<string, unknown>>;
  requireTexts(said['accept_presentation_document_targets'], 'accept_targets_missing');
  flag(said['auto_create'], 'auto_create_invalid');
  return {
    returnUrl: returnUrlOf(said['deep_link_return_url']),
    acceptTypes: requireTexts(said['accept_types'], 'accept_types_missing'),
    mediaTypes: mediaTypesOf(said['accept_media_types']),
    acceptMultiple: flag(said['accept_multiple'], 'accept_multiple_invalid') ?? false,
    acceptLineItem: flag(said['accept_lineitem'], 'accept_lineitem_invalid'),
    data: dataOf(said['data']),
  };
}

/**
 * The platform signed the address, so any host is allowed. But the person's browser opens it, and the picker's CSP contains it.
 */
function returnUrlOf(value: unknown): string {
  if (value === undefined || value === null || value === '') throw new LaunchError('deep_link_return_url_missing');
  if (typeof value !== 'string' || value.length > URL_MAX || /[\p{Cc}\s]/u.test(value) || !URL.canParse(value))
    throw refusedReturn();
  const url = new URL(value);
  const isSafe = url.protocol === 'https:' || LOOPBACK.test(url.origin);
  if (!isSafe || url.username !== '' || url.password !== '' || sourceOf(url.href) === undefined) throw refusedReturn();
  return url.href;
}

const refusedReturn = (): LaunchError => new LaunchError('deep_link_return_url_refused');

function requireTexts(value: unknown, code: LaunchErrorCode): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every((item) => typeof item === 'string'))
    throw new LaunchError(code);
  return value;
}

/** The standard has a text with commas; some platforms send a list. */
function mediaTypesOf(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const parts: unknown[] = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [undefined];
  const types = parts.map((part) => (typeof part === 'string' ? (part.split(';')[0] ?? '').trim().toLowerCase() : ''));
  if (!types.every((type) => /^(?:\*\/\*|[^\s/*]+\/(?:\*|[^\s/*]+))$/.test(type)))
    throw new LaunchError('accept_media_types_invalid');
  return types.length === 0 ? undefined : types;
}

/** Accepts true or false; some platforms send them as text. */
function flag(value: unknown, code: LaunchErrorCode): boolean | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const text = typeof value === 'string' ? value.toLowerCase() : value;
  if (text === true || text === 'true') return true;
  if (text === false || text === 'false') return false;
  throw new LaunchError(code);
}

function dataOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new LaunchError('deep_linking_data_invalid');
  return value;
}
