/** The sources of the addresses that may frame a launch; each is an address or null. */
export interface FramedBy {
  /** launch_presentation.return_url and tool_platform.url of the launch. */
  readonly returnUrl: string | null;
  readonly platformUrl: string | null;
  readonly issuer: string;
  readonly authEndpoint: string;
  /** Sources as the registration lists them: `https://*.lms.example.org`. */
  readonly frameAncestors: readonly string[];
}

/**
 * A source of CSP that cannot end its directive or begin another: scheme, host (`*`, or its first label may be `*`), port.
 * The URL standard allows `;`, `,` and `*` in a host name, so being an origin is not enough.
 */
const SOURCE = /^https?:\/\/(?:\*|(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-f:]+\])(?::[0-9]{1,5})?$/;
const LOOPBACK = /^http:\/\/(?:localhost|(?:[a-z0-9-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/**
 * The sources of `frame-ancestors` for one launch (CSP Level 3, §6.4.2), each once (docs/design/lti.md, Frames).
 * The registration's list comes from an administrator and is used as it is; the others must be https, or http on this machine.
 * None at all: `'none'`.
 */
export function frameAncestors(by: FramedBy): string {
  const origins = [by.returnUrl, by.platformUrl, by.issuer, by.authEndpoint]
    .map((address) => (address === null ? undefined : sourceOf(address)))
    .filter((origin) => origin !== undefined && (origin.startsWith('https:') || LOOPBACK.test(origin)));
  const sources = [...new Set([...origins, ...by.frameAncestors.filter((source) => SOURCE.test(source))])];
  return sources.length === 0 ? "'none'" : sources.join(' ');
}

/** The origin of an address as a source of CSP; undefined where it has none that is safe to write there. */
export function sourceOf(address: string): string | undefined {
  const origin = originOf(address);
  return origin !== undefined && SOURCE.test(origin) && !origin.includes('*') ? origin : undefined;
}

/** The origin of an address; an issuer need be none. */
function originOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { origin, protocol } = new URL(address);
  return protocol === 'https:' || protocol === 'http:' ? origin : undefined;
}
