import { SCORE_SCOPE } from '../grades/grades.schema.ts';

const AGS_SCOPE = 'https://purl.imsglobal.org/spec/lti-ags/scope';

/** Scopes of the services (AGS 2.0 §3). */
export const SCOPES = {
  lineItems: `${AGS_SCOPE}/lineitem`,
  lineItemsReadOnly: `${AGS_SCOPE}/lineitem.readonly`,
  results: `${AGS_SCOPE}/result.readonly`,
  scores: SCORE_SCOPE,
} as const;

/** The claims of a course's last launch about services. */
export interface OfferedServices {
  readonly isActive: boolean;
  readonly lineItemsUrl: string | null;
  readonly lineItemUrl: string | null;
  readonly scopes: readonly string[];
  readonly rosterUrl: string | null;
}

/**
 * Returns the services that the LMS offers in a course. The claim's address (which may be missing or empty) and its scopes
 * decide.
 */
export function servicesOf({ isActive, lineItemsUrl, lineItemUrl, scopes, rosterUrl }: OfferedServices) {
  const hasGradeBook = isActive && (lineItemsUrl !== null || lineItemUrl !== null);
  return {
    line_items: isActive && lineItemsUrl !== null ? lineItemAccess(scopes) : null,
    scores: hasGradeBook && scopes.includes(SCOPES.scores),
    results: hasGradeBook && scopes.includes(SCOPES.results),
    roster: isActive && rosterUrl !== null,
  };
}

function lineItemAccess(scopes: readonly string[]): 'read' | 'write' | null {
  if (scopes.includes(SCOPES.lineItems)) return 'write';
  return scopes.includes(SCOPES.lineItemsReadOnly) ? 'read' : null;
}
