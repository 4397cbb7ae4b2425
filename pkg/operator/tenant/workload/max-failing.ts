/**
 * If an upgrade of schemas or of pods has failed for this many tenants, the release is most likely at fault, and no further
 * upgrade begins.
 */
export const MAX_FAILING = 5;
