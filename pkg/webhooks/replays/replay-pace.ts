/** Deliveries of the webhook that are due at once, at most: an event of this moment waits behind no more of them. */
export const DUE_MAX = 16;
export const LOOK_EVERY_MS = 100;
