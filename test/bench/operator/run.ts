import { readFileSync } from 'node:fs';
import type { Cluster, OperatorProcess } from '../../support/cluster/operator.ts';

/** The cluster that the parts of the bench share. Its Tenants are in one namespace. */
export interface Run {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Another operator on it, with the same settings but for these. */
  start(env?: NodeJS.ProcessEnv): Promise<OperatorProcess>;
}

export const MIB = 2 ** 20;
export const SYNC_LIMIT_MS = 60_000;

export const countOf = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Returns the limit of a wait for `tenants`, in ms. */
export const limitFor = (tenants: number): number => 120_000 + tenants * 3_000;

export const inSeconds = (ms: number, digits = 1): string => `${(ms / 1_000).toFixed(digits)} s`;

/** Returns the private memory of a process, in bytes (proc(5), smaps_rollup). */
export function memoryOf(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return ['Private_Clean', 'Private_Dirty'].reduce(
    (sum, field) => sum + 1_024 * Number(new RegExp(`^${field}: +(\\d+)`, 'm').exec(rollup)?.[1] ?? 0),
    0,
  );
}

/**
 * The factor by which a tenant may cost more beside many others (5,000 keep the shape of 1,000). Times are compared with the
 * control's: API server, etcd and a Postgres server for each 1,000 tenants share the machine, and any client that writes there
 * takes longer.
 */
export const SHAPE = 1.3;
