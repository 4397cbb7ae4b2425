/**
 * The only catalogue of errors. Every error that a client sees has a row here: HTTP status and meaning.
 * Shape of the body (docs/design/api-conventions.md, Errors): `{ error, message, request_id, details?, retry_after? }`.
 */
export const CATALOGUE = {
  validation_failed: { status: 400, meaning: 'The request is not valid for this operation; `details` names each field.' },
  unauthenticated: { status: 401, meaning: 'The access token is missing, expired, revoked or belongs to another tenant.' },
  invalid_credentials: { status: 401, meaning: 'The e-mail address or the password is wrong.' },
  invalid_refresh_token: { status: 401, meaning: 'The refresh token is unknown, expired, already used or revoked.' },
  invalid_reset_token: { status: 401, meaning: 'The token of the password reset is unknown, expired or already used.' },
  share_password_required: { status: 401, meaning: 'The share link has a password; send it.' },
  share_password_wrong: { status: 401, meaning: 'The password of the share link is wrong.' },
  session_expired: { status: 401, meaning: 'The session has lasted 90 days and cannot be extended; sign in again.' },
  forbidden: { status: 403, meaning: 'The caller may see the resource but lacks the right for this operation.' },
  tenant_mismatch: { status: 403, meaning: 'X-Tenant-ID names a different tenant from the one at this address.' },
  managed: { status: 403, meaning: 'A Kubernetes resource or an LMS manages this; change it there.' },
  not_found: { status: 404, meaning: 'The resource does not exist, or the caller may not see it.' },
  method_not_allowed: { status: 405, meaning: 'This address does not allow that method; `Allow` lists the methods it allows.' },
  request_timeout: { status: 408, meaning: 'The body of the request arrived too slowly.' },
  name_conflict: { status: 409, meaning: 'The name is taken.' },
  conflict: { status: 409, meaning: 'The request conflicts with the current state, or with another request in progress.' },
  lms_service_missing: {
    status: 409,
    meaning: 'The LMS does not offer this service in this course; the message names service and scope.',
  },
  registration_inactive: { status: 409, meaning: 'The registration of this LMS is not active, so nothing can be sent to it.' },
  picker_answered: { status: 409, meaning: 'This content request of the LMS was already answered; start again in the LMS.' },
  upload_expired: { status: 410, meaning: 'The upload received no bytes for 24 hours; start it again.' },
  tus_version_unsupported: { status: 412, meaning: 'The server supports tus 1.0.0; send that version as Tus-Resumable.' },
  precondition_failed: { status: 412, meaning: 'If-Match does not match the current version.' },
  payload_too_large: { status: 413, meaning: 'The body or the file is too large.' },
  unsupported_media_type: { status: 415, meaning: 'This operation does not accept bodies of that Content-Type.' },
  range_not_satisfiable: { status: 416, meaning: 'The range is outside the file; `Content-Range` has its size.' },
  lms_refused: { status: 422, meaning: 'The LMS refused the request; the message quotes its answer.' },
  line_item_missing: { status: 422, meaning: 'The launch has no line item, so the LMS cannot store a grade.' },
  score_scope_missing: { status: 422, meaning: 'The LMS did not allow this tool to write scores (scope/score of the launch).' },
  item_refused: {
    status: 422,
    meaning: 'The LMS does not accept this item here, or not from this person; the message says why.',
  },
  answer_too_long: {
    status: 422,
    meaning: 'The answer does not fit into an address, which this LMS requires; choose fewer files.',
  },
  value_type_mismatch: { status: 422, meaning: 'The value is not of the type that `value_type` names.' },
  address_refused: { status: 422, meaning: 'The address is in a private network.' },
  archive_too_large: {
    status: 422,
    meaning: 'The folder has too many files and folders for one archive; download its folders one by one.',
  },
  archive_refused: {
    status: 422,
    meaning: 'The archive is broken, hostile or too large for an import; nothing of it was stored.',
  },
  pdf_signed: {
    status: 422,
    meaning: 'The PDF is signed, and the change would invalidate its signatures; `force` makes it anyway.',
  },
  pdf_encrypted: { status: 422, meaning: 'The PDF is encrypted; remove its password and upload it again.' },
  share_policy: {
    status: 422,
    meaning: 'The policy of this tenant does not allow such a share link; the message names the rule and the remedy.',
  },
  idempotency_key_reused: { status: 422, meaning: 'The Idempotency-Key was used before with a different request.' },
  rate_limit_exceeded: { status: 429, meaning: 'Too many requests; `retry_after` says when to try again.' },
  too_many_transfers: {
    status: 429,
    meaning:
      'Too many uploads and downloads are in progress, of this person or by share links; `retry_after` says when to try again.',
  },
  too_many_attempts: { status: 429, meaning: 'Too many wrong passwords; `retry_after` says when to try again.' },
  headers_too_large: { status: 431, meaning: 'The headers of the request are too large.' },
  checksum_mismatch: { status: 460, meaning: 'The bytes do not match the checksum; none of them were stored.' },
  internal: { status: 500, meaning: 'An internal error; `request_id` finds it in the log.' },
  helper_not_configured: { status: 501, meaning: 'This institution has no such helper service.' },
  helper_rejected: {
    status: 502,
    meaning: 'The helper service refused the request, or sent an unusable reply; the same request will fail again.',
  },
  lms_failed: { status: 502, meaning: 'The LMS failed, or sent an unusable reply.' },
  lms_unavailable: { status: 503, meaning: 'The LMS cannot be reached; try again after `Retry-After` seconds.' },
  lms_timeout: { status: 504, meaning: 'The LMS did not answer in time; a change may have been made there.' },
  helper_unavailable: { status: 503, meaning: 'The helper service does not answer; try again after `Retry-After` seconds.' },
  unavailable: { status: 503, meaning: 'A required service is temporarily unavailable; try again after `Retry-After` seconds.' },
  suspended: { status: 503, meaning: 'This tenant is suspended.' },
  quota_exceeded: { status: 507, meaning: "The owner's storage quota would be exceeded." },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ProblemCode = keyof typeof CATALOGUE;
