const AGS = 'https://purl.imsglobal.org/spec/lti-ags/scope';

/** Scopes of the services (AGS 2.0 §3.2–3.4, NRPS 2.0 §3.6.1.2). */
export const SCOPE = {
  lineItem: `${AGS}/lineitem`,
  lineItemReadOnly: `${AGS}/lineitem.readonly`,
  result: `${AGS}/result.readonly`,
  score: `${AGS}/score`,
  members: 'https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly',
  notices: 'https://purl.imsglobal.org/spec/lti/scope/noticehandlers',
} as const;

/** The scopes that a launch into a course offers: everything about grades. */
export const AGS_SCOPES: readonly string[] = [SCOPE.lineItem, SCOPE.lineItemReadOnly, SCOPE.result, SCOPE.score];

/** All scopes of the token end point. */
export const SCOPES: readonly string[] = [...AGS_SCOPES, SCOPE.members, SCOPE.notices];
