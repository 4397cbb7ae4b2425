import { Problem } from '../api/problem.ts';

/** Nothing is sent to an inactive webhook. Throws `conflict`. */
export function requireActive({ active }: { active: boolean }): void {
  if (!active) throw new Problem('conflict', 'This webhook is not active; set `active` to true first.');
}
