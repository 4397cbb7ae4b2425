import { backOffMs } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { WorkItem } from '../store/postgres/work.ts';
import type { Ledger } from './ledger.ts';
import type { JobMetrics, Result } from './metrics.ts';
import { type JobContext, LostLease, type Processor, TryLater, UnprocessableWork } from './processor.ts';
import { OURS } from './retry.policy.ts';

const UNKNOWN_KIND = 'unknown';

/** Attempts of carrel.work: what fails is tried again later, by a schedule in Postgres; what can never be done becomes a dead letter. */
export class WorkBench {
  readonly ledger: Ledger;
  readonly wake: () => void;
  readonly #deps: WorkBenchDeps;

  constructor(deps: WorkBenchDeps) {
    this.ledger = deps.ledger;
    this.wake = deps.wake;
    this.#deps = deps;
  }

  async attempt(item: WorkItem, signal: AbortSignal): Promise<void> {
    const { clock, metrics, processors } = this.#deps;
    const started = clock.monotonic();
    const result = await this.#process(item, signal);
    // A tenant's role writes kinds as it likes, and a label once used is kept for good.
    metrics.result(processors.has(item.kind) ? item.kind : UNKNOWN_KIND, result, (clock.monotonic() - started) / 1000);
  }

  async #process(item: WorkItem, signal: AbortSignal): Promise<Result> {
    const { processors, context, random, log } = this.#deps;
    const { kind, id, tenant, attempts } = item;
    try {
      const processor = processors.get(kind);
      if (!processor) throw new UnprocessableWork(`there is no processor for the kind ${kind}`);
      await processor(context(item, signal));
      return (await this.ledger.finish(item)) ? 'done' : 'lost_lease';
    } catch (error) {
      if (error instanceof LostLease) return 'lost_lease';
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof UnprocessableWork) {
        log.error({ err: error, tenant, id, kind }, 'work became a dead letter');
        return (await this.ledger.bury(item, message)) ? 'dead' : 'lost_lease';
      }
      const isExpected = error instanceof TryLater;
      const waitMs = isExpected ? error.afterMs : backOffMs(OURS, attempts, random);
      log.warn(
        { ...(isExpected ? { reason: message } : { err: error }), tenant, id, kind, attempts, waitMs },
        'work failed and is tried again',
      );
      return (await this.ledger.fail(item, { error: message, waitMs })) ? 'retried' : 'lost_lease';
    }
  }
}

interface WorkBenchDeps {
  readonly ledger: Ledger;
  readonly processors: ReadonlyMap<string, Processor>;
  context(item: WorkItem, signal: AbortSignal): JobContext;
  wake(): void;
  readonly metrics: JobMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}
