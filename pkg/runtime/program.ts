import { ConfigError } from './config.ts';
import type { Logger } from './log.ts';

/** A running program and the steps that SIGTERM or SIGINT runs, newest first. */
export interface Program {
  /** Aborted when the program is asked to stop. */
  readonly stopping: AbortSignal;
  /** Registers a step of the shutdown. Steps run in reverse order. If one fails, that is logged and the others still run. */
  onStop(name: string, close: () => Promise<void> | void): void;
  /** Stops as a signal would, for a reason of the program's own, and exits with `code`. */
  stop(reason: string, code?: number): void;
}

/** All steps of a shutdown must end within this time; otherwise the process exits anyway. */
export const SHUTDOWN_LIMIT_MS = 25_000;

/**
 * Runs a program: `start` wires and starts it. SIGTERM and SIGINT stop it gracefully within `SHUTDOWN_LIMIT_MS`; a second signal
 * stops it at once. A ConfigError results in one line on standard error and exit code 1. Any other error is logged with its
 * stack, with exit code 1.
 */
export async function runProgram(log: () => Logger, start: (program: Program) => Promise<void>): Promise<void> {
  const steps: { name: string; close: () => Promise<void> | void }[] = [];
  const stopping = new AbortController();

  const stop = (reason: string, code = 0): void => {
    if (stopping.signal.aborted) process.exit(code || 1);
    stopping.abort(new Error(reason));
    log().info({ reason }, 'stopping');
    setTimeout(() => {
      log().error({ limitMs: SHUTDOWN_LIMIT_MS }, 'shutdown took too long');
      process.exit(1);
    }, SHUTDOWN_LIMIT_MS).unref();
    void closeAll().then(() => {
      log().info('stopped');
      process.exit(code);
    });
  };
  const closeAll = async (): Promise<void> => {
    for (const step of steps.reverse()) {
      try {
        await step.close();
      } catch (error) {
        log().error({ err: error, step: step.name }, 'a step of the shutdown failed');
      }
    }
  };

  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('uncaughtException', (error) => fail(error));
  process.on('unhandledRejection', (error) => fail(error));
  const fail = (error: unknown): never => {
    if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
    else log().fatal({ err: error }, 'the program failed');
    process.exit(1);
  };

  try {
    await start({ stopping: stopping.signal, onStop: (name, close) => steps.push({ name, close }), stop });
  } catch (error) {
    fail(error);
  }
}
