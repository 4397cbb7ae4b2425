import type { RequestHeader, RequestInfo } from '../../api/endpoint.ts';

/** For OpenAPI. pkg/http/openapi/operation.ts adds it to every GET that may reply `share_password_required`. */
export const PASSWORD_HEADER: RequestHeader = {
  name: 'X-Share-Password',
  description: 'The password of the link, in UTF-8.',
  pattern: String.raw`^[\t -~\u0080-\u00ff]*$`,
  example: 'correct horse battery',
};
export const SESSION_HEADER: RequestHeader = {
  name: 'X-Share-Session',
  description: '`X-Share-Session` from an earlier reply, instead of the password. Browsers send it as a cookie.',
  pattern: '^[A-Za-z0-9._-]*$',
  maxLength: 1024,
  example: 'v1.p1.dGlja2V0',
};

/** Returns the password in the header. Node decodes its bytes as Latin-1; valid UTF-8 is decoded as such. */
export function passwordOf({ headers }: RequestInfo): string | undefined {
  const value = headers['x-share-password'];
  if (value === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
