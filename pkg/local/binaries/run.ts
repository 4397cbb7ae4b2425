import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Outcome {
  /** The exit code; null if a signal ended the program or it could not be started. */
  readonly code: number | null;
  readonly stdout: string;
  /** Both streams in the order of their output, to explain a failure; the last 64 KiB. */
  readonly output: string;
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly uid?: number;
  readonly gid?: number;
  /** Called with each line that the program prints to standard error. */
  readonly onLine?: (line: string) => void;
}

/** Runs a program to its end. Never throws: for a missing program, code is null and output is the error. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const { cwd, env, timeoutMs, uid, gid } = options;
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    });
    // An exiting program must leave no build behind.
    const end = (): void => void child.kill();
    process.once('exit', end);
    let stdout = '';
    let output = '';
    const keep = (text: string): void => {
      output = (output + text).slice(-65_536);
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      keep(text);
    });
    child.stderr.setEncoding('utf8').on('data', keep);
    if (options.onLine) createInterface({ input: child.stderr }).on('line', options.onLine);
    const done = (code: number | null, text: string): void => {
      process.off('exit', end);
      resolve({ code, stdout, output: text });
    };
    child.once('error', (error) => done(null, error.message));
    child.once('close', (code) => done(code, output));
  });
}

/** Returns the line that most likely explains why a program failed: the last one that is not empty. */
export const lastLine = (output: string): string => output.trimEnd().split('\n').at(-1)?.trim() ?? '';
