const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const DEFAULT_PORTS = new Set(['', '80', '443']);
/** Optional scheme, host, port, path; an issuer has no user information, query or fragment (OpenID Connect Core §2). */
const ISSUER = /^(?:https?:\/\/)?([^/\\:?#@\s]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?(\/[^\\?#\s]*)?$/;

/**
 * Returns whether two issuers that differ look the same to a person: they differ in a slash at the end, http for https, a default
 * port, upper case, `www.`, or another name of this machine. LTI compares them exactly; this only finds the registration that a
 * login was probably meant for. Anyone may send an issuer and an administrator reads it, so the comparison ignores nothing else.
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
