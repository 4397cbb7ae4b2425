import { deleteOldVersions } from '../versions/expire-versions.processor.ts';
import { maintenanceProcessor } from './maintenance-processor.ts';
import { APPLY_RETENTION } from './maintenance-tasks.ts';

/** Deletes old versions of the tenant's files, for a schedule. */
export const applyRetention = maintenanceProcessor({
  kind: APPLY_RETENTION,
  create:
    ({ clock }) =>
    async ({ transaction, context: { cache, signal }, arguments: limits }) => ({
      files: await deleteOldVersions({ transaction, cache, signal }, limits, clock.now()),
    }),
});
