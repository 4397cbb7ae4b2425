import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../support/backends/ports.ts';

/** A program of this folder, in a process of its own, so that it does not share a core's time with who measures. */
export interface BenchProgram {
  readonly url: string;
  /** Sends a message and gives the answer. */
  ask(): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startProgram(file: string, env: Readonly<Record<string, string>> = {}): Promise<BenchProgram> {
  const port = await freePort();
  const child: ChildProcess = fork(join(import.meta.dirname, file), {
    env: { ...process.env, ...env, PORT: String(port) },
  });
  const [first] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
  if (first !== 'ready') throw new Error(`${file} ended before it was ready`);
  return {
    url: `http://127.0.0.1:${port}`,
    ask: async () => {
      const answer = once(child, 'message');
      child.send('?');
      const [message] = (await answer) as [unknown];
      return message;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
