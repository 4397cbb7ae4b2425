/**
 * Lifetimes of a tenant's server (docs/design/api-conventions.md). Those of a single feature may be in its folder.
 * The readers decide whether one has expired: sessions in pkg/access/sessions.ts, tokens in pkg/access/tokens.ts, share links in
 * pkg/content/sharing/shares.sql.ts, cached values by Redis.
 */

const DAY_SECONDS = 86_400;

export const ACCESS_TOKEN_SECONDS = 900;
/** A session that is not refreshed, and a refresh token. */
export const SESSION_MS = 30 * DAY_SECONDS * 1000;
/** A session, however often it is refreshed. */
export const SESSION_LONGEST_MS = 90 * DAY_SECONDS * 1000;
/** The time for which a browser is known after the last sign-in. */
export const KNOWN_BROWSER_SECONDS = 90 * DAY_SECONDS;
/** The token of a password reset. */
export const PASSWORD_RESET_MS = DAY_SECONDS * 1000;
/** The application JWT of a launch and its session, which nothing renews. */
export const LAUNCH_SECONDS = 3600;
/** From login initiation to launch: time enough to sign in at the LMS. */
export const LOGIN_SECONDS = 600;
/** Later ranges of a download by share link do not count again. */
export const SHARE_DOWNLOAD_SECONDS = DAY_SECONDS;
/** From the page of a share link to its download. */
export const SHARE_PASS_SECONDS = 60;
/** For how long somebody with the link of a folder needs its password once, and is shown what they sent. */
export const SHARE_SESSION_SECONDS = DAY_SECONDS;
/** A download link. */
export const DOWNLOAD_LINK_SECONDS = 60;
/** A link by which an LMS fetches a file that was chosen for it. */
export const FETCH_LINK_SECONDS = DAY_SECONDS;

/** Cached: a session, from its last use on. */
export const SESSION_COPY_TTL_SECONDS = 3600;
/** Cached: a file's metadata. */
export const FILE_METADATA_TTL_SECONDS = 3600;
/** Cached: a user's permission set. */
export const PERMISSION_SET_TTL_SECONDS = 1800;
/** Cached: the reply of an endpoint that is `cached`. */
export const REPLY_TTL_SECONDS = 300;
