/** Maximum of a tenant's links that are neither used nor expired. */
export const OPEN_LINKS_MAX = 50;

/** How long an attempt holds its link: longer than the LMS may take to answer. After a crash the link is free again by then. */
export const ATTEMPT_MS = 60_000;
/** Registrations of a tenant that may wait for the operator (the slots of carrel.registration_requests). */
export const WAITING_MAX = 20;
