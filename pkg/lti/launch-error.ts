import { PageProblem, type PageProblemOptions } from '../api/page.ts';
import { LAUNCH_ERRORS_DE } from './launch-errors.de.ts';

/**
 * The one catalogue of reasons why a launch is refused. Each code has its status and the sentence that a person reads;
 * docs/connect-an-lms.md lists them. Sources: 1EdTech Security Framework 1.0 §5.1.1 (login), §5.1.3 (id_token validation), LTI
 * Core 1.3 §5.3 (required claims), OpenID Connect Core §3.1.3.7, RFC 7515, RFC 7517; 1EdTech LTI OIDC Login with LTI Client Side
 * postMessages (platform storage).
 */
export const LAUNCH_ERRORS = {
  start_from_lms: { status: 400, meaning: 'Start from your LMS: open the link in your course there.' },
  lti_1_1_launch: { status: 400, meaning: 'This is an LTI 1.1 launch. Configure the tool with LTI version 1.3 in the LMS.' },
  login_misdirected: {
    status: 400,
    meaning: 'The LMS sent its login request to an address with another purpose. Correct the addresses of the tool in the LMS.',
  },
  launch_misdirected: {
    status: 400,
    meaning: 'The LMS sent its launch to an address with another purpose. Correct the addresses of the tool in the LMS.',
  },
  // Login initiation
  parameter_repeated: { status: 400, meaning: 'The LMS sent a parameter twice.' },
  iss_missing: { status: 400, meaning: 'The LMS sent no issuer (iss).' },
  login_hint_missing: { status: 400, meaning: 'The LMS sent no login_hint.' },
  target_link_uri_missing: { status: 400, meaning: 'The LMS sent no target_link_uri.' },
  target_link_uri_foreign: { status: 400, meaning: 'The target_link_uri is not an address of this service.' },
  issuer_unknown: { status: 403, meaning: 'This LMS (iss) is not registered, or its registration is not active.' },
  client_id_unknown: {
    status: 403,
    meaning: 'This client id is not registered for this LMS, or its registration is not active.',
  },
  client_id_needed: { status: 400, meaning: 'Several registrations of this LMS are active: the LMS must send its client_id.' },
  deployment_id_needed: {
    status: 400,
    meaning: 'Several LMSs share this issuer and client id: the LMS must send its lti_deployment_id.',
  },
  deployment_undecided: {
    status: 403,
    meaning:
      'Several LMSs share this issuer and client id, and not exactly one of their registrations lists this deployment. ' +
      'An administrator of this service has to add its id to deploymentIds of the right one.',
  },
  storage_target_invalid: {
    status: 400,
    meaning: 'lti_storage_target is not a valid frame name: 1 to 64 bytes without control characters.',
  },
  // The state: the response must come from the browser that began the login
  platform_error: { status: 400, meaning: 'The LMS refused the launch. Sign in there and open the link again.' },
  state_missing: { status: 400, meaning: 'The LMS did not return the state of the launch.' },
  state_malformed: { status: 400, meaning: 'The state of the launch was not issued by this service.' },
  state_not_bound: {
    status: 400,
    meaning:
      'This browser did not begin this launch, has begun more than 32 others since, or blocks the cookies of this service. ' +
      'Open the link in your course again; if that does not help, allow cookies, or open it in a new window.',
  },
  state_forged: { status: 400, meaning: 'The cookie of this launch was modified, or belongs to another service.' },
  storage_forged: {
    status: 400,
    meaning: 'The login that the LMS stored in the browser was modified, or belongs to another launch.',
  },
  origin_missing: { status: 403, meaning: 'The launch was posted without an Origin header. Open the link in your course again.' },
  origin_foreign: { status: 403, meaning: 'Another site posted this launch. Open the link in your course again.' },
  state_expired: { status: 400, meaning: 'This launch took too long. Open the link in your course again.' },
  launch_used: { status: 409, meaning: 'This launch was already used. Open the link in your course again.' },
  registration_inactive: { status: 403, meaning: 'The registration of this LMS was removed or is not active.' },
  // The id_token's signature
  id_token_missing: { status: 400, meaning: 'The LMS sent no id_token.' },
  id_token_malformed: { status: 400, meaning: 'The id_token is not a signed JWT.' },
  alg_refused: { status: 401, meaning: 'The id_token is signed with an algorithm that is not accepted (LTI requires RS256).' },
  crit_refused: { status: 401, meaning: 'The id_token requires an unknown extension (crit).' },
  kid_missing: { status: 401, meaning: 'The id_token does not name the key that signed it (kid).' },
  key_unknown: { status: 401, meaning: 'The key that signed the id_token (kid) is not in the key set of the LMS.' },
  key_unfit: { status: 401, meaning: 'The key that the id_token names (kid) does not fit the algorithm, or is too short.' },
  signature_invalid: { status: 401, meaning: 'The signature of the id_token is invalid.' },
  platform_keys_unreachable: { status: 503, meaning: 'The key set of the LMS cannot be reached. Try again later.' },
  platform_keys_timeout: { status: 504, meaning: 'The LMS did not send its key set in time. Try again later.' },
  platform_keys_invalid: { status: 502, meaning: 'The key set URL of the LMS did not return a valid JWKS.' },
  // Its claims
  issuer_mismatch: { status: 401, meaning: 'The issuer of the id_token (iss) is not the LMS of the launch.' },
  audience_mismatch: { status: 401, meaning: 'The audience of the id_token (aud) is not this registration.' },
  azp_missing: { status: 401, meaning: 'The id_token has several audiences and no authorized party (azp).' },
  azp_mismatch: { status: 401, meaning: 'The id_token was issued to another tool (azp).' },
  exp_missing: { status: 401, meaning: 'The id_token has no expiry time (exp).' },
  id_token_expired: {
    status: 401,
    meaning: 'The id_token has expired. Open the link in your course again; if that does not help, a clock is wrong.',
  },
  iat_missing: { status: 401, meaning: 'The id_token has no time of issue (iat).' },
  iat_in_future: { status: 401, meaning: 'The id_token was issued in the future (iat): a clock is wrong.' },
  not_yet_valid: { status: 401, meaning: 'The id_token is not valid yet (nbf): a clock is wrong.' },
  nonce_missing: { status: 401, meaning: 'The id_token has no nonce.' },
  nonce_mismatch: { status: 401, meaning: 'The nonce of the id_token belongs to another launch.' },
  anonymous_launch: { status: 403, meaning: 'The LMS sent no user id (sub). Set the tool up so that the LMS sends it.' },
  sub_invalid: { status: 400, meaning: 'The user id (sub) is not 1 to 255 ASCII characters.' },
  message_type_missing: { status: 400, meaning: 'The id_token has no message type.' },
  message_type_unsupported: {
    status: 400,
    meaning:
      'The message type is not supported; it must be LtiResourceLinkRequest, LtiDeepLinkingRequest ' +
      'or LtiSubmissionReviewRequest.',
  },
  version_unsupported: { status: 400, meaning: 'The LTI version of the message is not 1.3.0.' },
  deployment_id_missing: { status: 400, meaning: 'The id_token has no deployment id.' },
  unknown_deployment: { status: 403, meaning: 'This deployment of the LMS is not registered.' },
  deployment_waiting: { status: 403, meaning: 'An administrator of this service has to admit this deployment of the LMS first.' },
  deployment_refused: { status: 403, meaning: 'An administrator of this service has refused this deployment of the LMS.' },
  resource_link_missing: { status: 400, meaning: 'The id_token has no resource_link.id.' },
  roles_missing: { status: 400, meaning: 'The id_token has no list of roles; the list may be empty, but is required.' },
  context_invalid: { status: 400, meaning: 'The id_token has a context without an id of 1 to 255 characters.' },
  user_inactive: { status: 403, meaning: 'This account has been deactivated.' },
  // A submission review
  for_user_missing: {
    status: 400,
    meaning: 'The submission review does not name the person whose hand-in it shows (for_user.user_id).',
  },
  review_not_allowed: { status: 403, meaning: 'Only instructors review what others have handed in.' },
  // Notices of the platform
  notices_invalid: { status: 400, meaning: 'The body is not {"notices":[{"jwt":"…"}]} with 1 to 100 notices.' },
  notice_id_missing: { status: 400, meaning: 'The notice has no id of 1 to 255 characters.' },
  notice_type_missing: { status: 400, meaning: 'The notice has no type.' },
  notice_type_unsupported: { status: 400, meaning: 'The type of the notice is not one that this service asked for.' },
  notice_context_missing: { status: 400, meaning: 'The notice of a copied course names no course (context.id).' },
  notice_origins_invalid: { status: 400, meaning: 'origin_contexts is not a list of at most 100 ids.' },
  // The settings of a deep linking request (Deep Linking 2.0 §4.4.1)
  deep_linking_settings_missing: { status: 400, meaning: 'The request for content has no deep_linking_settings.' },
  deep_link_return_url_missing: {
    status: 400,
    meaning: 'The request for content does not say where to send it (deep_link_return_url).',
  },
  deep_link_return_url_refused: {
    status: 400,
    meaning:
      'The address to send the content to (deep_link_return_url) is not an https address of at most 2,048 characters ' +
      'without a password.',
  },
  accept_types_missing: {
    status: 400,
    meaning: 'The request for content has no list of the types that the LMS accepts (accept_types).',
  },
  accept_targets_missing: {
    status: 400,
    meaning: 'The request for content has no list of the places to show it in (accept_presentation_document_targets).',
  },
  accept_media_types_invalid: {
    status: 400,
    meaning: 'accept_media_types of the request for content is not a list of media types.',
  },
  accept_multiple_invalid: { status: 400, meaning: 'accept_multiple of the request for content is neither true nor false.' },
  accept_lineitem_invalid: { status: 400, meaning: 'accept_lineitem of the request for content is neither true nor false.' },
  auto_create_invalid: { status: 400, meaning: 'auto_create of the request for content is neither true nor false.' },
  deep_linking_data_invalid: { status: 400, meaning: 'data of the request for content is not text.' },
  picker_not_for_learners: {
    status: 403,
    meaning: 'Only instructors choose content here. A learner may hand in their own files where the LMS asks only for files.',
  },
  // The picker
  picker_not_requested: { status: 400, meaning: 'This launch did not ask for content. Open the link in your course again.' },
  picker_answered: { status: 409, meaning: 'This request for content was answered already. Begin again in your LMS.' },
  // The page of the course
  entry_token_missing: { status: 400, meaning: 'This page opens from your course: open the link there.' },
  entry_token_invalid: {
    status: 401,
    meaning: 'This address is not from a launch of this service. Open the link in your course again.',
  },
  entry_expired: { status: 401, meaning: 'This launch is over. Open the link in your course again.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type LaunchErrorCode = keyof typeof LAUNCH_ERRORS;

/** A refused launch, with a code of the catalogue. */
export class LaunchError extends PageProblem {
  override readonly name = 'LaunchError';
  declare readonly code: LaunchErrorCode;

  /** `more` follows the catalogue's sentence: what to do in this particular case. */
  constructor(code: LaunchErrorCode, more?: string, options: PageProblemOptions = {}) {
    const { status, meaning } = LAUNCH_ERRORS[code];
    const withMore = (sentence: string): string => (more === undefined ? sentence : `${sentence} ${more}`);
    super(code, status, withMore(meaning), { ...options, messages: { de: withMore(LAUNCH_ERRORS_DE[code]) } });
  }
}
