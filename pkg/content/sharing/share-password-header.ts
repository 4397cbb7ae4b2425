import type { RequestHeader, RequestInfo } from '../../api/endpoint.ts';

/** In the document: of a GET that may answer `share_password_required` it is there by itself (pkg/http/openapi/operation.ts). */
export const PASSWORD_HEADER: RequestHeader = {
  name: 'X-Share-Password',
  description: 'The password of the link, in UTF-8.',
  pattern: String.raw`^[\t -~\u0080-\u00ff]*$`,
  example: 'correct horse battery',
};
export const SESSION_HEADER: RequestHeader = {
  name: 'X-Share-Session',
  description: 'In place of the password: `X-Share-Session` of a reply by this link. Browsers send it as a cookie.',
  pattern: '^[A-Za-z0-9._-]*$',
  maxLength: 1024,
  example: 'v1.p1.dGlja2V0',
};

/** A header's bytes are read as Latin-1; a password in UTF-8 is what its bytes say. */
export function passwordOf({ headers }: RequestInfo): string | undefined {
  const value = headers['x-share-password'];
  if (value === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
