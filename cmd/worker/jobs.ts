import { clearCaches } from '../../pkg/events/caches.jobs.ts';
import { deleteExpiredAudit } from '../../pkg/audit/expire-audit.ts';
import { batch } from '../../pkg/content/batch/batch.processor.ts';
import { expireExports } from '../../pkg/content/exports/expire-exports.processor.ts';
import { makeExport } from '../../pkg/content/exports/make-export.processor.ts';
import { copyFolder } from '../../pkg/content/folders/copy-folder.processor.ts';
import { importArchive } from '../../pkg/content/imports/import.processor.ts';
import { expireUploads } from '../../pkg/content/uploads/partial/expire-uploads.processor.ts';
import { applyRetention } from '../../pkg/content/upkeep/apply-retention.processor.ts';
import { sweepUploads } from '../../pkg/content/upkeep/sweep-uploads.processor.ts';
import { purgeObjects } from '../../pkg/content/blobs/purge-objects.processor.ts';
import { sweepAllObjects, sweepObjects } from '../../pkg/content/upkeep/sweep-objects.processor.ts';
import { checkTenantIntegrity } from '../../pkg/content/upkeep/check-integrity.processor.ts';
import { verifyChecksums } from '../../pkg/content/upkeep/verify-checksums.processor.ts';
import { scheduleIntegrityChecks } from '../../pkg/content/upkeep/schedule-checks.ts';
import { emptyOwnTrash } from '../../pkg/content/trash/empty-own-trash.processor.ts';
import { emptyTrash } from '../../pkg/content/trash/empty-trash.processor.ts';
import { expireVersions } from '../../pkg/content/versions/expire-versions.processor.ts';
import { recountUsage } from '../../pkg/content/upkeep/recount-usage.processor.ts';
import { deleteExpiredEvents, trimFullOutboxes } from '../../pkg/events/retention.ts';
import { deliveryQueue } from '../../pkg/webhooks/delivery/delivery.queue.ts';
import { pdfProcessors } from '../../pkg/helper-services/pdf/pdf.processor.ts';
import type { WorkerJobs } from '../../pkg/jobs/worker.ts';
import { recordOverdueChanges } from '../../pkg/lti/line-items/overdue-changes.ts';
import { renameCourse } from '../../pkg/lti/launch/rename-course.processor.ts';
import { processNotice } from '../../pkg/lti/notices/process-notice.processor.ts';
import { registerHandler } from '../../pkg/lti/notices/register-handler.processor.ts';
import { rosterProcessors } from '../../pkg/lti/members/sync-roster.processor.ts';
import { submitGrade } from '../../pkg/lti/grades/submit-grade.processor.ts';
import { armSchedules } from '../../pkg/schedules/arm-schedules.ts';
import { tickSchedule } from '../../pkg/schedules/tick.processor.ts';
import { expireTask } from '../../pkg/tasks/expire-task.processor.ts';
import { replay } from '../../pkg/webhooks/replays/replay.processor.ts';
import { deleteExpiredStatistics } from '../../pkg/webhooks/statistics/statistics.ts';
import type { WorkerConfig } from './config.ts';
import { QUEUES } from './queues.ts';

/** Everything that the worker does. A new job is a line here, beside its declaration (`<x>.jobs.ts`) and its processor. */
export const workerJobs = (config: WorkerConfig): WorkerJobs => ({
  queues: QUEUES,
  processors: [
    purgeObjects,
    sweepObjects,
    emptyTrash,
    expireVersions,
    expireUploads,
    checkTenantIntegrity,
    clearCaches,
    submitGrade({ retrySeconds: config.CARREL_GRADE_RETRY_SECONDS }),
    emptyOwnTrash,
    copyFolder,
    makeExport,
    expireExports,
    batch,
    importArchive,
    ...pdfProcessors(),
    renameCourse,
    processNotice,
    registerHandler,
    ...rosterProcessors(),
    expireTask,
    replay,
    tickSchedule,
    recountUsage,
    sweepAllObjects,
    sweepUploads,
    applyRetention,
    verifyChecksums,
  ],
  rowQueues: [
    deliveryQueue({
      timeoutMs: config.CARREL_WEBHOOK_TIMEOUT_SECONDS * 1000,
      retrySeconds: config.CARREL_WEBHOOK_RETRY_SECONDS,
    }),
  ],
  schedules: [
    deleteExpiredEvents,
    trimFullOutboxes,
    deleteExpiredAudit,
    deleteExpiredStatistics,
    recordOverdueChanges,
    scheduleIntegrityChecks,
    armSchedules,
  ],
});
