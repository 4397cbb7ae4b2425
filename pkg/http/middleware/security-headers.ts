import type { ServerResponse } from 'node:http';

/** The headers of every reply, unless its endpoint overrides them. */
const DEFAULTS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

export function securityHeaders(options: { https: boolean }): (res: ServerResponse) => void {
  const headers = Object.entries({ ...DEFAULTS, ...(options.https ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}) });
  return (res) => {
    for (const [name, value] of headers) res.setHeader(name, value);
  };
}
