import type { Middleware } from '../request-state.ts';

/** What every reply says unless its endpoint says otherwise. */
const DEFAULTS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

export const securityHeaders = (options: { https: boolean }): Middleware => {
  const headers = Object.entries({ ...DEFAULTS, ...(options.https ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}) });
  return (ctx, next) => {
    for (const [name, value] of headers) ctx.res.setHeader(name, value);
    return next();
  };
};
