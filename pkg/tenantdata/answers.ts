import { sleepUnlessAborted } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { sqlState } from '../store/postgres/errors.ts';
import type { Sql } from '../store/postgres/pool.ts';

/** How long a server may leave every question unanswered. Longer than a restart takes. */
export const SILENT_MS = 15_000;
/** Less than an idle connection lives, so that the next question goes over the same one. */
const ASK_MS = 5_000;
const AGAIN_MS = 1_000;

export interface AnswerWatch {
  readonly isSilent: boolean;
  end(): Promise<void>;
}

/**
 * Asks a server again and again whether it answers, and calls `onSilent` once it has not for `SILENT_MS`: a process that is
 * frozen, or a machine that is gone, closes no connection, and a statement without a bound of its time would wait for it for
 * ever. One that refuses has answered.
 */
export function watchAnswers({ pool, clock }: { pool: Sql; clock: Clock }, onSilent: () => void): AnswerWatch {
  const stopping = new AbortController();
  let isSilent = false;
  const watching = (async () => {
    let heardAt = clock.monotonic();
    while (!stopping.signal.aborted) {
      const left = heardAt + SILENT_MS - clock.monotonic();
      if (left <= 0) {
        isSilent = true;
        return onSilent();
      }
      const ended = new AbortController();
      const until = AbortSignal.any([stopping.signal, ended.signal]);
      const isHeard = await Promise.race([isAnswered(pool), sleepUnlessAborted(clock, left, until)]);
      ended.abort();
      if (isHeard) heardAt = clock.monotonic();
      await sleepUnlessAborted(clock, isHeard ? ASK_MS : AGAIN_MS, stopping.signal);
    }
  })();
  return {
    get isSilent() {
      return isSilent;
    },
    end: async () => {
      stopping.abort();
      await watching;
    },
  };
}

/**
 * A code that begins with a digit is the server's own word, for example that it has no connection left; those of the network
 * begin with a letter.
 */
const isAnswered = (pool: Sql): Promise<boolean> =>
  pool.query('SELECT 1').then(
    () => true,
    (error: unknown) => /^\d/.test(sqlState(error) ?? ''),
  );
