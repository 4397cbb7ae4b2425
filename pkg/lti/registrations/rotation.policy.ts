import { HOUR_MS, DAY_MS } from '../../runtime/time.ts';

/** Keys of a registration according to its rows. */
export interface Keys {
  /** The published key that signs. */
  readonly current: { readonly kid: string; readonly since: Date } | undefined;
  /** Published in advance, so that every LMS knows it by the time it signs. */
  readonly next: { readonly kid: string; readonly publishedAt: Date } | undefined;
  /** Keys that no longer sign, and are published until then. */
  readonly former: readonly { readonly kid: string; readonly until: Date }[];
}

export interface RotationStep {
  /**
   * `publish` a new key as the next one; let the next one `sign`; `discard` a next key that is no longer needed; or let all keys
   * `stay`.
   */
  readonly action: 'publish' | 'sign' | 'discard' | 'stay';
  /** Time of the next step; undefined: never. */
  readonly dueAt: Date | undefined;
}

/** LMSs cache a key set for at most a day. */
const LEAD_MS = DAY_MS;
/** Nothing that a key has signed is valid for longer than an hour (docs/design/lti.md); the rest allows for wrong clocks. */
export const FORMER_MS = DAY_MS;

/** `30d` or `12h` in ms (crds: keyRotationPeriod). */
export const periodMs = (text: string): number => Number.parseInt(text, 10) * (text.endsWith('h') ? HOUR_MS : DAY_MS);

/**
 * Returns the next step of the rotation. A key signs for `period`; the next is published a day ahead (half a short period ahead),
 * and the former stays published for a day. `period` undefined: no rotation.
 */
export function rotationStep(keys: Keys, period: number | undefined, now: Date): RotationStep {
  const { action, at } =
    period === undefined || !keys.current ? withoutRotation(keys) : inRotation(keys, keys.current.since, period, now);
  const untils = keys.former.map(({ until }) => until.getTime());
  const due = Math.min(...untils, ...(at === undefined ? [] : [at]));
  return { action, dueAt: Number.isFinite(due) ? new Date(due) : undefined };
}

const withoutRotation = ({ next }: Keys): { action: RotationStep['action']; at?: number } => ({
  action: next ? 'discard' : 'stay',
});

function inRotation(keys: Keys, since: Date, period: number, now: Date): { action: RotationStep['action']; at: number } {
  const lead = Math.min(LEAD_MS, period / 2);
  const publishAt = since.getTime() + period - lead;
  const signAt = keys.next ? Math.max(since.getTime() + period, keys.next.publishedAt.getTime() + lead) : undefined;
  if (signAt === undefined) return { action: publishAt <= now.getTime() ? 'publish' : 'stay', at: publishAt };
  return { action: signAt <= now.getTime() ? 'sign' : 'stay', at: signAt };
}
