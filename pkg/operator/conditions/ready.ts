import type { ConditionRunner, StepCondition } from './runner.ts';

/** Returns `Ready`: True if all steps are True, otherwise the condition that a person should see first. */
export function readyFrom(steps: ConditionRunner, message: string): StepCondition {
  const { worst } = steps;
  if (!worst) return { type: 'Ready', status: 'True', reason: 'Ready', message };
  return { type: 'Ready', status: worst.status, reason: worst.reason, message: `${worst.type}: ${worst.message}` };
}

/** Returns `Stalled` in the sense of kstatus: True if only a person can correct a step's result. */
export function stalledFrom({ terminal }: ConditionRunner): StepCondition {
  if (!terminal) return { type: 'Stalled', status: 'False', reason: 'NotStalled', message: '' };
  return { type: 'Stalled', status: 'True', reason: terminal.reason, message: `${terminal.type}: ${terminal.message}` };
}
