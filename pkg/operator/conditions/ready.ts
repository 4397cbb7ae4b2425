import type { ConditionRunner, StepCondition } from './runner.ts';

/** `Ready` as the steps say: True when all are, else the condition that a person should see first. */
export function readyFrom(steps: ConditionRunner, message: string): StepCondition {
  const { worst } = steps;
  if (!worst) return { type: 'Ready', status: 'True', reason: 'Ready', message };
  return { type: 'Ready', status: worst.status, reason: worst.reason, message: `${worst.type}: ${worst.message}` };
}

/** `Stalled`, as kstatus reads it: True where only a person can correct what a step found. */
export function stalledFrom({ terminal }: ConditionRunner): StepCondition {
  if (!terminal) return { type: 'Stalled', status: 'False', reason: 'NotStalled', message: '' };
  return { type: 'Stalled', status: 'True', reason: terminal.reason, message: `${terminal.type}: ${terminal.message}` };
}
