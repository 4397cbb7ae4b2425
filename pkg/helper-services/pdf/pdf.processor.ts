import { Problem } from '../../api/problem.ts';
import { type Processor, TryLater, type WorkerServices } from '../../events/processor.ts';
import { LimitReached } from '../../store/postgres/errors.ts';
import { taskProcessor, type TaskSteps } from '../../tasks/task-processor.ts';
import { countAttempt } from '../../tasks/task-steps.sql.ts';
import { HelperCalls, type HelperLimits } from '../calls/helper-calls.ts';
import { HelperChecks } from '../calls/helper-checks.ts';
import { convert, type Helpers, type PlannedConversion } from './convert-pdf.ts';
import { OPTIMIZE, type PdfArguments, TRANSLATE } from './pdf-tasks.ts';

/** Waits between the attempts at an unavailable helper (the API's contract: three more). */
export const RETRY_MS: readonly number[] = [1_000, 10_000, 60_000];

/** Limits that tests shorten. */
export interface PdfLimits extends Partial<HelperLimits> {
  readonly retryMs?: readonly number[];
}

/**
 * Converts PDFs with helper services. Both directions stream: object store → helper → object store.
 *
 * Invariants:
 * - The version or copy, its bytes in the quota, its event, the result and the end of the job are one transaction. Objects stored
 *   for it are deleted if it does not commit; after a crash, by the sweep.
 * - The requester's roles and grants are read before the PDF is sent, and again in that transaction. A job lets nobody do what
 *   they may not do directly.
 * - A version is made from the version before it: one that was added meanwhile is never covered (`conflict`).
 * - A canceled job sends nothing more after one second.
 */
export function pdfProcessors({ retryMs = RETRY_MS, ...limits }: PdfLimits = {}): Processor[] {
  let helpers: Helpers | undefined;
  // Jobs share one breaker per tenant and helper.
  const of = (services: WorkerServices): Helpers =>
    (helpers ??= { calls: new HelperCalls({ ...services, limits }), checks: new HelperChecks(services) });
  return [
    taskProcessor({
      kind: OPTIMIZE,
      create: (services) => {
        const shared = of(services); // Created now because its metrics must exist from the start.
        return (steps) => attempt(services, steps, retryMs, () => convert(services, shared, steps, optimization));
      },
    }),
    taskProcessor({
      kind: TRANSLATE,
      create: (services) => {
        const shared = of(services);
        return (steps) => attempt(services, steps, retryMs, () => convert(services, shared, steps, translation));
      },
    }),
  ];
}

const optimization: PlannedConversion<PdfArguments & { quality: string; force: boolean }> = {
  kind: 'pdf_optimize',
  path: '/optimize',
  mustBeSmaller: true,
  takesSigned: ({ force }) => force,
  fields: async ({ quality, force }) => ({ quality, ...(force ? { force: 'true' } : {}) }),
  name: () => 'optimized',
  comment: ({ quality }) => `Optimized (${quality})`,
};

const translation: PlannedConversion<PdfArguments & { target: string; source: string }> = {
  kind: 'pdf_translate',
  path: '/translate',
  mustBeSmaller: false,
  takesSigned: ({ as }) => as === 'copy',
  fields: async ({ target, source }, spelling) => ({
    target_lang: await spelling('targets', target),
    ...(source === 'auto' ? {} : { source_lang: await spelling('sources', source) }),
  }),
  name: ({ target }) => target,
  comment: ({ target }) => `Translated into ${target}`,
};

/** Runs a conversion. Its error ends the item and the job, unless another attempt may succeed. */
async function attempt<Arguments extends PdfArguments>(
  { log }: WorkerServices,
  { context, step }: TaskSteps<Arguments>,
  retryMs: readonly number[],
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    const problem = error instanceof LimitReached ? new Problem('quota_exceeded', error.message) : error;
    if (!(problem instanceof Problem)) throw error;
    const waitMs = await step(async (tx, task) => {
      const wait = problem.code === 'helper_unavailable' ? retryMs[(await countAttempt(tx, task.id)) - 1] : undefined;
      if (wait !== undefined) return wait;
      const [item] = await task.next({ files: 1, folders: 1 });
      if (item) await task.end([{ id: item.id, code: problem.code, message: problem.message }]);
      await task.fail(problem);
      return undefined;
    });
    if (waitMs !== undefined) throw new TryLater(problem.message, waitMs);
    log.info({ tenant: context.slug, reason: problem.message, code: problem.code }, 'could not convert a PDF');
  }
}
