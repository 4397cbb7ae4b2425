import { Problem } from '../../api/problem.ts';
import type { Middleware } from '../state.ts';

/** A server serves one tenant: X-Tenant-ID, when sent, must name it by slug or number (design: section 3). */
export const tenantCheck =
  (tenant: { slug: string; id: string }): Middleware =>
  (ctx, next) => {
    const named = ctx.req.headers['x-tenant-id'];
    if (named !== undefined && named !== tenant.slug && named !== tenant.id) throw new Problem('tenant_mismatch');
    return next();
  };

/** A suspended tenant is closed at the door; its data stay (design: section 4.2). */
export const suspendedCheck =
  (suspended: boolean): Middleware =>
  (_ctx, next) => {
    if (suspended) throw new Problem('suspended', undefined, { retryAfter: 60 });
    return next();
  };
