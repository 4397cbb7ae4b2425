import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { residentBytes } from '../runtime/resident-bytes.ts';

interface ScriptLimits {
  readonly ms: number;
  readonly memoryBytes: number;
  /** The largest output, in bytes. */
  readonly outputBytes: number;
}

/** A script was ended because it exceeded a limit. */
export class LimitExceeded extends Error {
  override readonly name: string = 'LimitExceeded';
}

/** It exceeded its time limit. */
export class TimeExceeded extends LimitExceeded {
  override readonly name = 'TimeExceeded';
}

/** Returns the reply to a line that the script printed; undefined: none. */
export type Answer = (line: string) => Promise<string | undefined>;

/** Share of the memory for objects of the language; the rest is for bytes and the program itself. */
const HEAP_SHARE = 0.6;
const WATCH_MS = 50;
/** Node's exit after an allocation failed. */
const ABORTED = 'SIGABRT';

/**
 * Runs one of our scripts in a process of its own, answers each line that it prints, until it ends, and returns its last line.
 * The process has none of our environment, may read the sources and `folder`, may write only in `folder`, and may start no
 * process. It is killed after `ms`, above `memoryBytes`, and when the signal is aborted. (`ulimit` would need a shell, and Node's
 * address space is far larger than the memory that it uses.) Throws LimitExceeded (TimeExceeded), the signal's reason, or the
 * error that `answer` throws.
 */
export function runScript(
  script: URL,
  args: readonly string[],
  { folder, limits, signal, answer }: { folder: string; limits: ScriptLimits; signal: AbortSignal; answer?: Answer },
): Promise<string> {
  signal.throwIfAborted();
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const heapMib = Math.floor((limits.memoryBytes * HEAP_SHARE) / (1 << 20));
  const permissions = ['--permission', `--allow-fs-read=${root}*`, `--allow-fs-read=${folder}/*`, `--allow-fs-write=${folder}/*`];
  const child = spawn(
    process.execPath,
    ['--no-warnings', `--max-old-space-size=${heapMib}`, ...permissions, fileURLToPath(script), ...args],
    { cwd: folder, env: {}, stdio: ['pipe', 'pipe', 'ignore'] },
  );
  return new Promise((resolve, reject) => {
    let bytes = 0;
    let line = '';
    let last = '';
    const end = (error: Error): void => {
      reject(error);
      child.kill('SIGKILL');
    };
    const onAbort = (): void => end(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => end(new TimeExceeded(`it takes more than ${Math.round(limits.ms / 1000)} s`)), limits.ms);
    const watch = setInterval(() => {
      if (residentBytes(child.pid) > limits.memoryBytes)
        end(new LimitExceeded(`it uses more than ${limits.memoryBytes >> 20} MiB of memory`));
    }, WATCH_MS);
    const settle = (): void => {
      clearTimeout(timer);
      clearInterval(watch);
      signal.removeEventListener('abort', onAbort);
    };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      bytes += chunk.length;
      if (bytes > limits.outputBytes) return end(new LimitExceeded(`its output has more than ${limits.outputBytes} bytes`));
      const lines = (line + chunk).split('\n');
      line = lines.pop() ?? '';
      for (const whole of lines) {
        last = whole;
        void answer?.(whole).then((reply) => reply !== undefined && child.stdin.write(`${reply}\n`), end);
      }
    });
    child.stdin.on('error', () => {}); // It has ended; its exit code says why.
    child.once('error', (error) => {
      settle();
      reject(error);
    });
    child.once('close', (code, killedBy) => {
      settle();
      if (code === 0) resolve(last);
      else if (killedBy === ABORTED || code === 134) reject(new LimitExceeded(`it uses more than ${heapMib} MiB of memory`));
      else reject(new Error(`${fileURLToPath(script)} ended with ${code ?? killedBy}`));
    });
    if (!answer) child.stdin.end();
  });
}
