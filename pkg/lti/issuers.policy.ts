const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const DEFAULT_PORTS = new Set(['', '80', '443']);

/**
 * Whether two issuers that differ are one to a person: by a slash at the end, http for https, a default port, upper case, `www.`, or
 * another name of this machine. LTI compares them to the letter; this only finds out of which registration a login must be.
 */
export const isNearly = (issuer: string, registered: string): boolean => likeness(issuer) === likeness(registered);

function likeness(issuer: string): string {
  const text = issuer.trim().toLowerCase();
  const address = /^[a-z][a-z0-9+.-]*:/.test(text) ? text : `https://${text}`;
  if (!/^https?:/.test(address) || !URL.canParse(address)) return withoutSlash(text);
  const { hostname, port, pathname } = new URL(address);
  const host = LOOPBACK.test(hostname) ? 'localhost' : hostname.replace(/^www\./, '');
  return `${host}${DEFAULT_PORTS.has(port) ? '' : `:${port}`}${withoutSlash(pathname)}`;
}

const withoutSlash = (text: string): string => text.replace(/\/+$/, '');
