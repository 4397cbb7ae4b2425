import { Counter, Histogram } from 'prom-client';
import type { Metrics } from '../runtime/metrics.ts';
import type { TaskKindName, TaskState } from './tasks.schema.ts';

/** The worker's metrics of tasks, by kind. Times are in seconds. */
interface TaskMetrics {
  /** Counts the first start of a task, `seconds` after its request. */
  began(kind: TaskKindName, seconds: number): void;
  ended(kind: TaskKindName, state: Extract<TaskState, 'succeeded' | 'failed' | 'canceled'>, seconds: number): void;
}

const SECONDS = [0.1, 0.5, 2, 10, 60, 300, 1_800, 7_200];
const made = new WeakMap<Metrics, TaskMetrics>();

/** Returns the metrics of a registry, one instance for all kinds. */
export function taskMetrics(metrics: Metrics): TaskMetrics {
  const present = made.get(metrics) ?? register(metrics);
  made.set(metrics, present);
  return present;
}

function register(metrics: Metrics): TaskMetrics {
  const registers = [metrics];
  const wait = new Histogram({
    name: 'carrel_jobs_wait_seconds',
    help: "Time from a person's request of a job to its begin",
    labelNames: ['kind'],
    buckets: SECONDS,
    registers,
  });
  const duration = new Histogram({
    name: 'carrel_jobs_duration_seconds',
    help: "Time from a person's request of a job to its end",
    labelNames: ['kind'],
    buckets: SECONDS,
    registers,
  });
  const ended = new Counter({
    name: 'carrel_jobs_ended_total',
    help: 'Jobs of people that have ended, by kind and state',
    labelNames: ['kind', 'state'],
    registers,
  });
  return {
    began: (kind, seconds) => wait.observe({ kind }, seconds),
    ended: (kind, state, seconds) => {
      ended.inc({ kind, state });
      duration.observe({ kind }, seconds);
    },
  };
}
