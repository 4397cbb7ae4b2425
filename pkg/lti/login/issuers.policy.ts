const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const DEFAULT_PORTS = new Set(['', '80', '443']);
/** Scheme or none, host, port, path; an issuer has neither user information nor query nor fragment (OpenID Connect Core §2). */
const ISSUER = /^(?:https?:\/\/)?([^/\\:?#@\s]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?(\/[^\\?#\s]*)?$/;

/**
 * Whether two issuers that differ are one to a person: by a slash at the end, http for https, a default port, upper case, `www.`,
 * or another name of this machine. LTI compares them to the letter; this only finds out of which registration a login must be.
 * Anybody may send one and an administrator reads it: nothing else of the text is left out of the comparison.
 */
export const isNearly = (issuer: string, registered: string): boolean => likeness(issuer) === likeness(registered);

function likeness(issuer: string): string {
  const text = issuer.trim().toLowerCase();
  const [, name = '', port = '', path = ''] = ISSUER.exec(text) ?? [];
  if (!URL.canParse(`https://${name}`)) return withoutSlash(text);
  const { hostname } = new URL(`https://${name}`);
  const host = LOOPBACK.test(hostname) ? 'localhost' : hostname.replace(/^www\./, '');
  return `${host}${DEFAULT_PORTS.has(port) ? '' : `:${port}`}${withoutSlash(path)}`;
}

const withoutSlash = (text: string): string => text.replace(/\/+$/, '');
