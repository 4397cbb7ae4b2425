/** The sources of the addresses that may frame a launch; each is an address or null. */
export interface FramedBy {
  /** launch_presentation.return_url and tool_platform.url of the launch. */
  readonly returnUrl: string | null;
  readonly platformUrl: string | null;
  readonly issuer: string;
  readonly authEndpoint: string;
  /** Sources that the registration lists: `https://*.lms.example.org`. */
  readonly frameAncestors: readonly string[];
}

/**
 * A source of CSP that cannot end its directive or begin another: scheme, host (`*`, or its first label may be `*`), port.
 * The URL standard allows `;`, `,` and `*` in a host name, so being an origin is not enough.
 */
const SOURCE = /^https?:\/\/(?:\*|(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-f:]+\])(?::[0-9]{1,5})?$/;
const LOOPBACK = /^http:\/\/(?:localhost|(?:[a-z0-9-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/**
 * Returns the sources of `frame-ancestors` for one launch (CSP Level 3, §6.4.2), without duplicates (docs/design/lti.md, Frames).
 * The registration's list comes from an administrator and is used unchanged; the others must be https, or http on this machine.
 * Without any source: `'none'`.
 */
export function frameAncestors(by: FramedBy): string {
  const origins = [by.returnUrl, by.platformUrl, by.issuer, by.authEndpoint]
    .map((address) => (address === null ? undefined : sourceOf(address)))
    .filter((origin) => origin !== undefined && (origin.startsWith('https:') || LOOPBACK.test(origin)));
  const sources = [...new Set([...origins, ...by.frameAncestors.filter((source) => SOURCE.test(source))])];
  return sources.length === 0 ? "'none'" : sources.join(' ');
}

/** Returns the origin of an address as a CSP source; undefined if it has none that is safe in a policy. */
export function sourceOf(address: string): string | undefined {
  const origin = originOf(address);
  return origin !== undefined && SOURCE.test(origin) && !origin.includes('*') ? origin : undefined;
}

/** Returns the origin of an address; an issuer need not be a URL. */
function originOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { origin, protocol } = new URL(address);
  return protocol === 'https:' || protocol === 'http:' ? origin : undefined;
}
