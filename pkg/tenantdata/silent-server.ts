import { sleepUnlessAborted } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { sqlState } from '../store/postgres/errors.ts';
import type { Sql } from '../store/postgres/pool.ts';

/** A server is silent if it leaves every question unanswered for this long. This is longer than a restart takes. */
export const SILENT_MS = 15_000;
/** Shorter than the life of an idle connection, so that the next question uses the same one. */
const ASK_MS = 5_000;
const AGAIN_MS = 1_000;

export interface AnswerWatch {
  readonly isSilent: boolean;
  end(): Promise<void>;
}

/**
 * Asks a server repeatedly whether it answers, and calls `onSilent` once it has not for `SILENT_MS`. A frozen process or a lost
 * machine closes no connection, so a statement without a time limit would wait forever. A server that refuses has answered.
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
 * Returns true if the server answered. A code that begins with a digit comes from the server, for example when it has no
 * connection left; codes of the network begin with a letter.
 */
const isAnswered = (pool: Sql): Promise<boolean> =>
  pool.query('SELECT 1').then(
    () => true,
    (error: unknown) => /^\d/.test(sqlState(error) ?? ''),
  );
