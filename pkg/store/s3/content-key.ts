import type { Random } from '../../runtime/random.ts';

/** The keys that Carrel generates for contents: `<yyyymmdd>/<2 hexadecimal digits>/<32 letters of base64url>`. */
const CONTENT_KEY = /^2\d{7}\/[0-9a-f]{2}\/[\w-]{32}$/;

/** The prefix of every content key: the millennium. A listing by it skips most objects that are not Carrel's. */
export const CONTENT_KEY_PREFIX = '2';

/** The key of the marker object, which names the owner of the location. No file's key equals it: those begin with a day. */
export const MARKER_KEY = '.carrel-tenant';

/**
 * Returns a key for a new object: random, never a file's name. One of 256 folders precedes it, since some stores hold a folder as
 * a directory.
 */
export const newKey = (random: Random): string => `${random.hex(1)}/${random.base64url(24)}`;

/** Returns the key of a new content. `day` is yyyymmdd in UTC. */
export const newContentKey = (day: string, random: Random): string => `${day}/${newKey(random)}`;

/** Returns true if Carrel generated the key. Other objects are not Carrel's and are never deleted, except the marker. */
export const isContentKey = (key: string): boolean => CONTENT_KEY.test(key);
