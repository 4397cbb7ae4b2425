import { readFileSync } from 'node:fs';

/** Programs by a part of their command line; the first that matches. */
const NAMES: readonly RegExp[] = [/cmd\/(operator|worker|server)\/main\.js/, /^(?:\S*\/)?([\w-]+)/];

/** The proportional set size of each program among the processes, the largest first, and of all. */
export function memoryOf(pids: readonly number[]): string[] {
  const programs = new Map<string, { count: number; kibibytes: number }>();
  for (const pid of pids) {
    const one = sizeOf(pid);
    if (!one) continue;
    const program = programs.get(one.name) ?? { count: 0, kibibytes: 0 };
    programs.set(one.name, { count: program.count + 1, kibibytes: program.kibibytes + one.kibibytes });
  }
  const mebibytes = (kibibytes: number): string => (kibibytes / 1_024).toFixed(0).padStart(5);
  const rows = [...programs]
    .toSorted(([, a], [, b]) => b.kibibytes - a.kibibytes)
    .filter(([, { kibibytes }]) => kibibytes > 4_096);
  const total = [...programs.values()].reduce((sum, { kibibytes }) => sum + kibibytes, 0);
  return [
    ...rows.map(([name, { count, kibibytes }]) => `${mebibytes(kibibytes)} MiB  ${count} × ${name}`),
    `${mebibytes(total)} MiB  all, by proportional set size`,
  ];
}

function sizeOf(pid: number): { name: string; kibibytes: number } | undefined {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    const [, size] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
    const found = NAMES.map((pattern) => pattern.exec(command)?.[1]).find((name) => name !== undefined);
    return { name: found ?? '?', kibibytes: Number(size ?? 0) };
  } catch {
    return undefined; // ended meanwhile
  }
}
