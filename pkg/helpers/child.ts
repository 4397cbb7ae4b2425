import { spawn } from 'node:child_process';

export interface ChildLimits {
  readonly ms: number;
  /** Maximum address space of each process. */
  readonly memoryBytes: number;
  readonly outputBytes: number;
  /** Maximum size of each file that it writes; without it, unlimited. */
  readonly fileBytes?: number;
}

/** The part of our environment that a child gets: where programs are. It contains none of our secrets. */
const environment = (folder: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  LC_ALL: 'C.UTF-8',
  ...(folder !== '/' && { TMPDIR: folder }),
});

/**
 * Runs a program with `input` in `folder` and returns its standard output. The kernel ends a process that takes more memory or
 * CPU time. Its whole process group is killed after `ms`, when it writes one byte too many, and when the signal is aborted.
 * Throws an error that says what happened, or the signal's reason.
 */
export function runChild(
  command: readonly string[],
  input: string,
  limits: ChildLimits,
  signal: AbortSignal,
  folder = '/',
): Promise<string> {
  signal.throwIfAborted();
  const seconds = Math.ceil(limits.ms / 1000);
  // The unit of -f is 512 bytes.
  const fileLimit = limits.fileBytes === undefined ? '' : `; ulimit -f ${Math.ceil(limits.fileBytes / 512)}`;
  const bounds = `ulimit -c 0; ulimit -t ${seconds}; ulimit -v ${Math.floor(limits.memoryBytes / 1024)}${fileLimit}`;
  const [name = ''] = command;
  // Node's pipe is a socket, which a script cannot open as /dev/stdin: `cat` turns it into a pipe.
  const child = spawn('/bin/sh', ['-c', `${bounds}; cat | "$0" "$@"`, ...command], {
    cwd: folder,
    env: environment(folder),
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      killGroup(child.pid); // Kills what a pipeline left.
    };
    const end = (error: Error): void => {
      reject(error);
      killGroup(child.pid);
    };
    const onAbort = (): void => end(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => end(new Error(`${name} took longer than ${limits.ms} ms`)), limits.ms);
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limits.outputBytes) end(new Error(`${name} wrote more than ${limits.outputBytes} bytes`));
      else chunks.push(chunk);
    });
    child.once('error', (error) => {
      settle(); // A process that never started emits no `close`.
      reject(error);
    });
    child.once('close', (code, killedBy) => {
      settle();
      if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else reject(new Error(`${name} ended with ${code ?? killedBy}`));
    });
    child.stdin.on('error', () => {}); // It ended before it read everything; its exit code says why.
    child.stdin.end(input);
  });
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}
