import type { Feature } from '../feature/feature.ts';
import { auditEndpoints } from './audit.endpoints.ts';
import { AuditLog } from './audit.service.ts';

/** Who did what: entries that the database writes with each change, for administrators. */
export const audit: Feature = {
  name: 'audit',
  create: (services) => ({ endpoints: auditEndpoints(new AuditLog(services)) }),
};
