import type { Feature } from '../feature/feature.ts';
import { auditEndpoints } from './audit.endpoints.ts';
import { AuditLog } from './audit.service.ts';

/** Lists who did what, for administrators. The database writes an entry with each change. */
export const audit: Feature = {
  name: 'audit',
  create: (services) => ({ endpoints: auditEndpoints(new AuditLog(services)) }),
};
