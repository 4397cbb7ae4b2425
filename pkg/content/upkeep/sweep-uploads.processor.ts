import { deleteAllExpired } from '../uploads/partial/expire-uploads.processor.ts';
import { maintenanceProcessor } from './maintenance-processor.ts';
import { SWEEP_UPLOADS } from './maintenance-tasks.ts';

/** Deletes uploads that have expired, for a schedule. */
export const sweepUploads = maintenanceProcessor({
  kind: SWEEP_UPLOADS,
  create:
    (services) =>
    async ({ transaction, context: { signal } }) => ({ deleted: await deleteAllExpired(services, { transaction, signal }) }),
});
