import type { Migration } from '../migration.ts';
import { work } from './0001-work.ts';
import { events } from './0002-events.ts';
import { lines } from './0003-lines.ts';
import { webhookHealth } from './0004-webhook-health.ts';
import { unknownDeployments } from './0005-unknown-deployments.ts';
import { bounds } from './0006-bounds.ts';
import { boundsOfOldRows } from './0007-bounds-of-old-rows.ts';
import { forcedRowSecurity } from './0008-forced-row-security.ts';
import { unknownValues } from './0010-unknown-values.ts';
import { heapOnlyLeases } from './0011-heap-only-leases.ts';
import { integrityFaults } from './0012-integrity-faults.ts';
import { traceparents } from './0013-traceparents.ts';
import { functionsOfTenants } from './0014-functions-of-tenants.ts';
import { limits } from './0020-limits.ts';
import { auditOfSystem } from './0023-audit-of-system.ts';
import { orderOfNames } from './0025-order-of-names.ts';
import { countRows } from './0026-count-rows.ts';
import { boundOutbox } from './0027-bound-outbox.ts';
import { remainingOfTenant } from './0028-remaining-of-tenant.ts';
import { foreignObjects } from './0029-foreign-objects.ts';
import { auditOfSchedules } from './0030-audit-of-schedules.ts';
import { deliveriesByEndpoint } from './0033-deliveries-by-endpoint.ts';
import { deliveryStatistics } from './0034-delivery-statistics.ts';
import { dueTenants } from './0037-due-tenants.ts';
import { sampleOfEvents } from './0038-sample-of-events.ts';
import { sampledOutbox } from './0039-sampled-outbox.ts';
import { vacuumOfOutbox } from './0040-vacuum-of-outbox.ts';
import { foundOutboxes } from './0041-found-outboxes.ts';
import { bytesOfJobs } from './0042-bytes-of-jobs.ts';
import { storeFilesWithCrc } from './0150-store-files-with-crc.ts';
import { registrationRequests } from './0200-registration-requests.ts';
import { auditOfCourses } from './0210-audit-of-courses.ts';
import { deploymentChanges } from './0230-deployment-changes.ts';
import { notifyOperator } from './0250-notify-operator.ts';
import { undecidedDeployments } from './0260-undecided-deployments.ts';
import { notifyOfDeployments } from './0261-notify-of-deployments.ts';
import { auditOfDeployments } from './0262-audit-of-deployments.ts';

/** In their order. */
export const shardMigrations: readonly Migration<object>[] = [
  work,
  events,
  lines,
  webhookHealth,
  unknownDeployments,
  bounds,
  boundsOfOldRows,
  forcedRowSecurity,
  unknownValues,
  heapOnlyLeases,
  integrityFaults,
  traceparents,
  functionsOfTenants,
  limits,
  auditOfSystem,
  orderOfNames,
  countRows,
  boundOutbox,
  remainingOfTenant,
  foreignObjects,
  auditOfSchedules,
  deliveriesByEndpoint,
  deliveryStatistics,
  dueTenants,
  sampleOfEvents,
  sampledOutbox,
  vacuumOfOutbox,
  foundOutboxes,
  bytesOfJobs,
  storeFilesWithCrc,
  registrationRequests,
  auditOfCourses,
  deploymentChanges,
  notifyOperator,
  undecidedDeployments,
  notifyOfDeployments,
  auditOfDeployments,
];
