import { readdirSync, readFileSync } from 'node:fs';

/** A field of /proc/<pid>/status. */
export const statusOf = (pid: string, field: string): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`^${field}:\\s+(\\d+)`, 'm'))?.[1] ?? '';
  } catch {
    return ''; // it has ended
  }
};

/** MiB of this test's process that runs `program`, below `parent`; undefined: there is none. */
export function residentMib(program: string, isBelow: (parent: string) => boolean): number | undefined {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (!isBelow(statusOf(pid, 'PPid'))) continue;
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(program)) return Number(statusOf(pid, 'VmRSS')) / 1024;
    } catch {
      // it has ended
    }
  }
  return undefined;
}

/** Returns true for the test's own process. */
export const isThis = (pid: string): boolean => pid === String(process.pid);
/** Returns the resident MiB of the worker that this test started. */
export const workerMib = (): number => residentMib('cmd/worker/main', isThis) ?? 0;
