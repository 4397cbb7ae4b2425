import { PageProblem, type PageProblemOptions } from '../api/page.ts';

/**
 * Why a launch is refused: the one catalogue of LTI codes. Each has its status and the sentence that a person reads;
 * docs/connect-an-lms.md lists them. Sources: 1EdTech Security Framework 1.0 §5.1.1 (login), §5.1.3 (id_token validation),
 * LTI Core 1.3 §5.3 (required claims), OpenID Connect Core §3.1.3.7, RFC 7515, RFC 7517; 1EdTech LTI OIDC Login with LTI Client Side
 * postMessages (platform storage).
 */
export const LAUNCH_ERRORS = {
  start_from_lms: { status: 400, meaning: 'Start from your LMS: open the link in your course there.' },
  lti_1_1_launch: { status: 400, meaning: 'This is a launch of LTI 1.1. Set the tool up with LTI version 1.3 at the LMS.' },
  login_misdirected: {
    status: 400,
    meaning: 'The LMS began its login at an address that is for something else. Correct the addresses of the tool at the LMS.',
  },
  launch_misdirected: {
    status: 400,
    meaning: 'The LMS sent its launch to an address that is for something else. Correct the addresses of the tool at the LMS.',
  },
  // Login initiation
  parameter_repeated: { status: 400, meaning: 'The LMS sent a parameter twice.' },
  iss_missing: { status: 400, meaning: 'The LMS did not say who it is (iss).' },
  login_hint_missing: { status: 400, meaning: 'The LMS did not say for whom the launch is (login_hint).' },
  target_link_uri_missing: { status: 400, meaning: 'The LMS did not say what to open (target_link_uri).' },
  target_link_uri_foreign: { status: 400, meaning: 'The LMS wants to open an address that is not of this service (target_link_uri).' },
  issuer_unknown: { status: 403, meaning: 'This LMS (iss) is not registered here, or its registration is not active.' },
  client_id_unknown: { status: 403, meaning: 'This client id is not registered here for this LMS, or its registration is not active.' },
  client_id_needed: { status: 400, meaning: 'Several registrations of this LMS are active: it must send its client_id.' },
  storage_target_invalid: {
    status: 400,
    meaning: 'lti_storage_target is not a valid frame name: 1 to 64 bytes without control characters.',
  },
  // The way back to the browser that began
  platform_error: { status: 400, meaning: 'The LMS refused the launch. Sign in there and open the link again.' },
  state_missing: { status: 400, meaning: 'The LMS did not send the state of the launch back.' },
  state_malformed: { status: 400, meaning: 'The state of the launch is not one of ours.' },
  state_not_bound: {
    status: 400,
    meaning:
      'This browser did not begin this launch, or it keeps no cookies for this service. Allow them, or open the link in a new window.',
  },
  state_forged: { status: 400, meaning: 'The cookie of this launch was changed, or is not of this service.' },
  storage_forged: { status: 400, meaning: 'The login that the LMS stored in the browser was changed, or belongs to another launch.' },
  origin_missing: { status: 403, meaning: 'The launch was posted without an Origin. Open the link in your course again.' },
  origin_foreign: { status: 403, meaning: 'Another site posted this launch. Open the link in your course again.' },
  state_expired: { status: 400, meaning: 'This launch took too long. Open the link in your course again.' },
  launch_used: { status: 409, meaning: 'This launch was used already. Open the link in your course again.' },
  registration_inactive: { status: 403, meaning: 'The registration of this LMS was removed or is not active.' },
  // The id_token as a signed text
  id_token_missing: { status: 400, meaning: 'The LMS sent no id_token.' },
  id_token_malformed: { status: 400, meaning: 'The id_token is not a signed JWT.' },
  alg_refused: { status: 401, meaning: 'The id_token is signed by an algorithm that is not taken (RS256 is what LTI asks for).' },
  crit_refused: { status: 401, meaning: 'The id_token asks for an extension (crit) that is not known.' },
  kid_missing: { status: 401, meaning: 'The id_token does not name the key that signed it (kid).' },
  key_unknown: { status: 401, meaning: 'The key that signed the id_token (kid) is not in the key set of the LMS.' },
  key_unfit: { status: 401, meaning: 'The key that the id_token names (kid) is not one for signatures of this kind, or is too short.' },
  signature_invalid: { status: 401, meaning: 'The signature of the id_token is invalid.' },
  platform_keys_unreachable: { status: 503, meaning: 'The key set of the LMS cannot be reached. Try again later.' },
  platform_keys_timeout: { status: 504, meaning: 'The LMS did not send its key set in time. Try again later.' },
  platform_keys_invalid: { status: 502, meaning: 'The key set URL of the LMS did not return a valid JWKS.' },
  // Its claims
  issuer_mismatch: { status: 401, meaning: 'The id_token is of another LMS (iss) than the launch.' },
  audience_mismatch: { status: 401, meaning: 'The id_token is not meant for this registration (aud).' },
  azp_missing: { status: 401, meaning: 'The id_token has several audiences and does not say which of them it was issued to (azp).' },
  azp_mismatch: { status: 401, meaning: 'The id_token was issued to another tool (azp).' },
  exp_missing: { status: 401, meaning: 'The id_token does not say until when it holds (exp).' },
  id_token_expired: {
    status: 401,
    meaning: 'The id_token has expired. Open the link in your course again; if that does not help, a clock is wrong.',
  },
  iat_missing: { status: 401, meaning: 'The id_token does not say when it was issued (iat).' },
  iat_in_future: { status: 401, meaning: 'The id_token was issued in the future (iat): a clock is wrong.' },
  not_yet_valid: { status: 401, meaning: 'The id_token does not hold yet (nbf): a clock is wrong.' },
  nonce_missing: { status: 401, meaning: 'The id_token carries no nonce.' },
  nonce_mismatch: { status: 401, meaning: 'The id_token is the answer to another launch (nonce).' },
  anonymous_launch: { status: 403, meaning: 'The LMS did not say who is launching (sub). Have it send the person.' },
  sub_invalid: { status: 400, meaning: 'The id of the person (sub) is not 1 to 255 ASCII characters.' },
  message_type_missing: { status: 400, meaning: 'The id_token has no message type.' },
  message_type_unsupported: { status: 400, meaning: 'This message type is not supported; a launch is LtiResourceLinkRequest.' },
  version_unsupported: { status: 400, meaning: 'The message is not of LTI 1.3.0.' },
  deployment_id_missing: { status: 400, meaning: 'The id_token has no deployment id.' },
  unknown_deployment: { status: 403, meaning: 'This deployment of the LMS is not registered here.' },
  resource_link_missing: { status: 400, meaning: 'The id_token does not say from which link the launch comes (resource_link.id).' },
  roles_missing: { status: 400, meaning: 'The id_token has no list of roles; it may be empty, but must be there.' },
  context_invalid: { status: 400, meaning: 'The context of the id_token has no id of 1 to 255 characters.' },
  user_inactive: { status: 403, meaning: 'This account has been deactivated.' },
  // The page of the course
  entry_token_missing: { status: 400, meaning: 'This page opens from your course: open the link there.' },
  entry_token_invalid: {
    status: 401,
    meaning: 'This address does not come from a launch of this service. Open the link in your course again.',
  },
  entry_expired: { status: 401, meaning: 'This launch is over. Open the link in your course again.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type LaunchErrorCode = keyof typeof LAUNCH_ERRORS;

/** A launch that is refused, with a code of the catalogue. */
export class LaunchError extends PageProblem {
  override readonly name = 'LaunchError';
  declare readonly code: LaunchErrorCode;

  /** `more` follows the catalogue's sentence: what to do in this very case. */
  constructor(code: LaunchErrorCode, more?: string, options: PageProblemOptions = {}) {
    const { status, meaning } = LAUNCH_ERRORS[code];
    super(code, status, more === undefined ? meaning : `${meaning} ${more}`, options);
  }
}
