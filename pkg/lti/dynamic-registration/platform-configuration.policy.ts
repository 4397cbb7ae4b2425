import { z } from 'zod';
import { type AllowedRange, literalPrivateAddress } from '../../net/private-address.ts';
import { isTakenAlgorithm } from '../launch/platform-keys.ts';
import { RegistrationError } from './registration-error.ts';

/** A message that an LMS sends, and its placements (empty: the LMS names none). */
export interface SupportedMessage {
  readonly type: string;
  readonly placements: readonly string[];
}

/** The addresses and the product that an LMS's configuration names. */
export interface PlatformAddresses {
  readonly issuer: string;
  readonly authEndpoint: string;
  readonly tokenEndpoint: string;
  readonly jwksEndpoint: string;
  readonly registrationEndpoint: string;
  /** `aud` of assertions, where the LMS expects something other than its token endpoint; not a URL at some LMSs. */
  readonly tokenAudience: string | null;
  readonly product: string | null;
  readonly version: string | null;
}

/** The parts of an LMS's configuration that the registration needs. */
export interface PlatformConfiguration extends PlatformAddresses {
  /** Empty: the LMS does not name any. */
  readonly scopes: readonly string[];
  readonly claims: readonly string[];
  readonly messages: readonly SupportedMessage[];
}

/** Sizes of a platform's columns (docs/design/records.md, LTI). */
const ADDRESS_MAX = 500;
const WORD_MAX = 255;
const LIST_MAX = 500;
/** Same rule as crds/ltiregistrations.carrel.dev.yaml: https, or http on loopback and below `localhost`. */
const PLATFORM_ADDRESS =
  /^(https:\/\/[^/?#@ ]+|http:\/\/(localhost|[a-z0-9-]+(\.[a-z0-9-]+)*\.localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]{1,5})?)(\/[^# ]*)?$/;

export const PLATFORM_CONFIGURATION = 'https://purl.imsglobal.org/spec/lti-platform-configuration';

/** The texts of a list; other elements are ignored. */
const Words = z
  .array(z.unknown())
  .transform((all) =>
    all.filter((one): one is string => typeof one === 'string' && one !== '' && one.length <= WORD_MAX).slice(0, LIST_MAX),
  )
  .optional();
const Word = z.string().min(1).max(WORD_MAX).optional().catch(undefined);

const Configuration = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  jwks_uri: z.string(),
  registration_endpoint: z.string(),
  authorization_server: z.string().max(ADDRESS_MAX).optional(),
  token_endpoint_auth_methods_supported: Words,
  token_endpoint_auth_signing_alg_values_supported: Words,
  id_token_signing_alg_values_supported: Words,
  response_types_supported: Words,
  scopes_supported: Words,
  claims_supported: Words,
  [PLATFORM_CONFIGURATION]: z
    .object({ product_family_code: Word, version: Word, messages_supported: z.array(z.unknown()).optional() })
    .optional(),
});

/** Moodle lists types of messages; other LMSs list objects. */
const Message = z.union([
  z.string().transform((type) => ({ type, placements: [] as string[] })),
  z
    .object({ type: z.string(), placements: Words.nullable() })
    .transform(({ type, placements }) => ({ type, placements: placements ?? [] })),
]);

/**
 * Reads the configuration that an LMS sent. `from`: the address that it came from. Throws RegistrationError
 * `configuration_invalid`, `platform_unsupported`, `endpoint_refused`, `issuer_foreign`.
 */
export function readConfiguration(body: unknown, from: string, allow: readonly AllowedRange[]): PlatformConfiguration {
  const parsed = Configuration.safeParse(body);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join('.');
    throw new RegistrationError('configuration_invalid', field ? `It has no usable ${field}.` : 'It is not a JSON object.');
  }
  const { data } = parsed;
  requireSupport(data);
  const platform = data[PLATFORM_CONFIGURATION] ?? {};
  const configuration: PlatformConfiguration = {
    issuer: data.issuer,
    authEndpoint: data.authorization_endpoint,
    tokenEndpoint: data.token_endpoint,
    jwksEndpoint: data.jwks_uri,
    registrationEndpoint: data.registration_endpoint,
    tokenAudience: data.authorization_server || null,
    product: platform.product_family_code ?? null,
    version: platform.version ?? null,
    scopes: data.scopes_supported ?? [],
    claims: data.claims_supported ?? [],
    messages: (platform.messages_supported ?? []).slice(0, LIST_MAX).flatMap((one) => Message.safeParse(one).data ?? []),
  };
  requireEndpoints(configuration, allow);
  requireIssuer(configuration, from);
  return configuration;
}

/** Requires the methods and algorithms that LTI prescribes. If the LMS omits a list, it is assumed to support them. */
function requireSupport(data: z.output<typeof Configuration>): void {
  const needs = [
    ['token_endpoint_auth_methods_supported', 'private_key_jwt'],
    ['token_endpoint_auth_signing_alg_values_supported', 'RS256'],
    ['response_types_supported', 'id_token'],
  ] as const;
  for (const [field, value] of needs) {
    const offered = data[field];
    if (offered && offered.length > 0 && !offered.includes(value))
      throw new RegistrationError('platform_unsupported', `Its ${field} does not include ${value}.`);
  }
  const algorithms = data.id_token_signing_alg_values_supported ?? [];
  if (algorithms.length > 0 && !algorithms.some(isTakenAlgorithm))
    throw new RegistrationError(
      'platform_unsupported',
      'Its id_token_signing_alg_values_supported includes no accepted algorithm.',
    );
}

function requireEndpoints(configuration: PlatformAddresses, allow: readonly AllowedRange[]): void {
  const { issuer, authEndpoint, tokenEndpoint, jwksEndpoint, registrationEndpoint } = configuration;
  const all = { issuer, authorization_endpoint: authEndpoint };
  const called = { token_endpoint: tokenEndpoint, jwks_uri: jwksEndpoint, registration_endpoint: registrationEndpoint };
  for (const [field, address] of Object.entries({ ...all, ...called })) {
    if (address.length > ADDRESS_MAX || !PLATFORM_ADDRESS.test(address) || !URL.canParse(address))
      throw new RegistrationError('endpoint_refused', `${field} must be an https address of at most ${ADDRESS_MAX} characters.`);
  }
  for (const [field, address] of Object.entries(called)) {
    if (literalPrivateAddress(address, allow) !== undefined)
      throw new RegistrationError('endpoint_refused', `${field} leads to a private address.`);
  }
}

/** Canvas uses one issuer for all its cloud customers, and by default also for self-hosted installations. */
const SHARED_ISSUERS: ReadonlySet<string> = new Set([
  'https://canvas.instructure.com',
  'https://canvas.beta.instructure.com',
  'https://canvas.test.instructure.com',
]);
const BLACKBOARD_ISSUER = 'https://blackboard.com';

/**
 * Requires that the issuer is at the host that sent the configuration (LTI Dynamic Registration 1.0 §3.4). Where many hosts share
 * one issuer, either all called addresses are at the sender's host (self-hosted Canvas), or both belong to the vendor
 * (Blackboard).
 */
function requireIssuer(configuration: PlatformAddresses, from: string): void {
  const sender = new URL(from).host;
  const hostOf = (address: string): string => new URL(address).host;
  if (hostOf(configuration.issuer) === sender) return;
  const { issuer, authEndpoint, tokenEndpoint, jwksEndpoint, registrationEndpoint } = configuration;
  const isOwnCanvas =
    SHARED_ISSUERS.has(issuer) &&
    [authEndpoint, tokenEndpoint, jwksEndpoint, registrationEndpoint].every((one) => hostOf(one) === sender);
  if (isOwnCanvas || (issuer === BLACKBOARD_ISSUER && sender.endsWith('.blackboard.com'))) return;
  throw new RegistrationError('issuer_foreign', `The issuer is ${issuer}, but the configuration came from ${sender}.`);
}
