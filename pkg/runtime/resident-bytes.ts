import { readFileSync } from 'node:fs';

/** Returns the resident memory of a process; 0 if the system does not report it, or the process has ended. */
export function residentBytes(pid: number | undefined): number {
  try {
    const [, kib = '0'] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib) * 1024;
  } catch {
    return 0;
  }
}
