/**
 * When an upgrade, of schemas or of pods, has failed for so many tenants, the fault is most likely the release's: no further one
 * begins.
 */
export const MAX_FAILING = 5;
