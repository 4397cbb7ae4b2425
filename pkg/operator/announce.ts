import type { EventRecorder } from '../kube/events.ts';
import type { Kind, KubeObject, Observed } from '../kube/object.ts';
import { findCondition, type Condition } from '../kube/status.ts';

type WithConditions = Observed<KubeObject & { status?: { conditions?: Condition[] } }>;

/**
 * Tells a person by an Event what changed for the better or the worse between two states: it is ready, it is no longer ready,
 * it is stuck until somebody does something, it goes on with data that were kept, a part of its spec is ignored. What only is on its way is told by the conditions alone.
 */
export function announce(events: EventRecorder, kind: Kind, before: KubeObject, after: KubeObject): void {
  const was = (type: string): Condition | undefined => findCondition((before as WithConditions).status?.conditions, type);
  const is = (type: string): Condition | undefined => findCondition((after as WithConditions).status?.conditions, type);
  const tell = (type: 'Normal' | 'Warning', condition: Condition): void =>
    events.record(after as WithConditions, kind, { type, reason: condition.reason, message: condition.message });

  const accepted = is('Accepted');
  if (accepted?.reason === 'Adopted' && was('Accepted')?.reason !== 'Adopted') tell('Normal', accepted);
  const stalled = is('Stalled') ?? accepted;
  const isStuck = stalled?.type === 'Stalled' ? stalled.status === 'True' : stalled?.status === 'False';
  if (stalled && isStuck && !isSame(stalled, was(stalled.type))) tell('Warning', stalled);
  const ignored = is('FieldsIgnored');
  if (ignored?.status === 'True' && !isSame(ignored, was(ignored.type))) tell('Warning', ignored);
  const ready = is('Ready');
  if (!ready || ready.status === was('Ready')?.status) return;
  if (ready.status === 'True') tell('Normal', ready);
  else if (was('Ready')?.status === 'True' && !isStuck) tell(ready.reason === 'Suspended' ? 'Normal' : 'Warning', ready);
}

const isSame = (a: Condition, b: Condition | undefined): boolean =>
  b !== undefined && a.status === b.status && a.reason === b.reason && a.message === b.message;
