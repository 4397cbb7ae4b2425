import type { EventRecorder } from '../../../kube/events.ts';
import type { Deployment, Pod } from '../../../kube/kinds.ts';
import { isDeleting, keyOf, type Observed } from '../../../kube/object.ts';
import type { ResourceApi } from '../../../kube/resource.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Random } from '../../../runtime/random.ts';
import type { SealingKey } from '../../../runtime/sealing.ts';
import type { CredentialName } from '../../../store/postgres/registry.ts';
import { seconds } from '../../../kube/status.ts';
import type { StepResult } from '../../conditions/runner.ts';
import { type ObservedTenant, type Tenant, TENANT } from '../../kinds.ts';
import { FIELD_MANAGER, NOT_ENDED, ROTATE_ANNOTATION, selectorText } from '../../names.ts';
import type { Shards } from '../../shards.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';
import { isRolledOut } from '../workload/availability.ts';
import { MOVE_RETRY_MS } from '../moves/moves.ts';
import type { StorageStep } from '../storage/storage-step.ts';
import type { Workload } from '../workload/workload-step.ts';
import { credentialsOf, hasMark, isOld, requestedRotations, wishedFrom } from './rotation.policy.ts';
import { ROTATIONS, transitionFrom } from './rotation-stages.ts';

/** The operator watches neither ending pods nor rows. */
const RETRY_MS = 2_000;
/** The wait for pods that should have ended LATE_MS ago. */
const LATE_RETRY_MS = 15_000;
const LATE_MS = 60_000;
const NAMED_PODS = 5;
/** The most values that one reconcile reseals; the next reconcile continues. */
const MOST_VALUES = 1_000;
const AT_ONCE_MS = 1;

interface Deps {
  readonly tenants: ResourceApi<Tenant>;
  readonly pods: ResourceApi<Pod>;
  readonly shards: Shards;
  readonly storage: StorageStep;
  readonly events: EventRecorder;
  /** The first seals, all open. */
  readonly platformKeys: readonly SealingKey[];
  readonly random: Random;
  readonly clock: Clock;
}

/**
 * The step `CredentialsReady`: begins the rotations that are requested or due, and advances running ones by a step. The registry
 * has each step's value; the steps of the stores write it where it is used, and their Secrets replace the pods.
 *
 * Invariants:
 * - A step is taken only when every pod has what the step before gave it and no pod from before is left, so none is without a
 *   valid credential. While the tenant is being moved, or its Deployment is not applied since a store's step failed, none is.
 * - A crash at any point leaves a complete step: the next pass continues.
 * - A request with a mark counts once, however often it is applied: the status names the last one that was followed.
 * - While no rotation is requested, due or running, it runs no statement and no call.
 */
export class RotationStep {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async run(
    tenant: ObservedTenant,
    accepted: AcceptedTenant,
    { deployment, isHeld }: Workload,
  ): Promise<StepResult<FollowedRequest>> {
    const now = this.#deps.clock.now();
    const { text, names, unknown } = requestedRotations(tenant);
    const wished = names.length > 0 && unknown.length === 0 ? wishedFrom(text, tenant.status?.rotation) : undefined;
    const waitMs = wished && wished > now ? wished.getTime() - now.getTime() : undefined;
    const requested = wished && waitMs === undefined ? names : [];
    const stepOf = (name: CredentialName): string | null => accepted.credentials[name]?.step ?? null;
    const moving = credentialsOf(tenant).filter(
      (name) => stepOf(name) !== null || requested.includes(name) || isOld(tenant, accepted, name, now),
    );
    // Running rotations continue.
    const refused = unknown.length > 0 ? unknownRotation(tenant, unknown) : undefined;
    const repeated = wished && waitMs !== undefined ? repeatedRotation(text, wished, waitMs) : undefined;
    if (moving.length === 0) return { value: {}, reason: 'Current', message: '', ...refused, ...repeated };
    const rotating = { value: {}, reason: 'Rotating', message: messageOf(moving, stepOf), ...refused };
    // The watch of the Deployment notifies of the end of a rollout, and rollouts.ts of its turn.
    if (isHeld || !isRolledOut(deployment)) return rotating;
    // Its stores do not change, so its pods lack the values of the step before.
    if (accepted.move)
      return { ...rotating, message: `${rotating.message}; waiting for the tenant's move to end`, retryAfterMs: MOVE_RETRY_MS };
    const former = await this.#formerPods(tenant, deployment);
    if (former.length > 0) return { ...rotating, ...waitsForPods(rotating.message, former, now) };
    const waits: number[] = [];
    for (const name of moving) waits.push(await this.#move(tenant, accepted, name, now));
    const value = requested.length > 0 ? { rotation: { request: text, at: seconds(now) } } : {};
    if (requested.length > 0 && !hasMark(text)) await this.#removeRequest(tenant);
    return { ...rotating, value, retryAfterMs: Math.min(...waits) };
  }

  /** Advances one credential by a step. Returns the ms until it is checked again. */
  async #move(tenant: ObservedTenant, accepted: AcceptedTenant, name: CredentialName, now: Date): Promise<number> {
    const { shards, storage, events, random } = this.#deps;
    const state = accepted.credentials[name];
    const from = state?.step ?? null;
    const transition = transitionFrom(name, from);
    if (!transition) return RETRY_MS;
    const waitMs = transition.afterMs - (now.getTime() - Date.parse(state?.stepAt ?? accepted.since));
    if (from !== null && waitMs > 0) return waitMs;
    if (name === 'storage' && transition.to === null) await storage.endFormerKey(accepted);
    // Wait: a writer of the tenant's rows may still seal values with the former key.
    if (name === 'data' && transition.to === null && !(await this.#isSealedAnew(accepted))) return RETRY_MS;
    const { secret } = ROTATIONS[name];
    const { change, ...step } = transition;
    const value =
      secret === undefined || !change ? {} : { value: { secret, change: (former: string) => change(former, random) } };
    const registry = await shards.registry();
    const isTaken = await registry.rotate(accepted.tenantId, name, { ...step, ...value });
    const record = (reason: string, message: string): void => events.record(tenant, TENANT, { type: 'Normal', reason, message });
    if (isTaken && from === null) record('RotationStarted', `rotates the credential ${name}`);
    if (isTaken && transition.to === null) record('Rotated', `the former credential ${name} is no longer valid`);
    return AT_ONCE_MS;
  }

  /** Reseals values of the former data key with the new one. Returns true if a pass found none. */
  async #isSealedAnew(accepted: AcceptedTenant): Promise<boolean> {
    const { shards, platformKeys, random } = this.#deps;
    const { resealTenant, sealOf } = await import('../../../tenantdata/sealed-columns.ts');
    const { pool } = await shards.open(accepted.shard);
    const { resealed } = await resealTenant(pool, sealOf(accepted, platformKeys, random), { most: MOST_VALUES });
    return resealed === 0;
  }

  /**
   * Returns the pods that the Deployment no longer counts: those that are ending, or all pods of the tenant if none is ending and
   * there are too many.
   */
  async #formerPods(tenant: ObservedTenant, deployment: Deployment): Promise<Observed<Pod>[]> {
    const { namespace } = tenant.metadata;
    const pods = await this.#deps.pods.list({ namespace, labelSelector: selectorText(tenant), fieldSelector: NOT_ENDED });
    if (pods.length <= (deployment.spec?.replicas ?? 1)) return [];
    const ending = pods.filter(isDeleting);
    return ending.length > 0 ? ending : pods;
  }

  /** Removes the request, since its rotations have begun. */
  async #removeRequest(tenant: ObservedTenant): Promise<void> {
    const annotations = { [ROTATE_ANNOTATION]: null };
    await this.#deps.tenants.patch(keyOf(tenant), { metadata: { annotations } }, { fieldManager: FIELD_MANAGER });
  }
}

function waitsForPods(message: string, pods: readonly Observed<Pod>[], now: Date): { message: string; retryAfterMs: number } {
  const names = pods.map(({ metadata }) => metadata.name).toSorted();
  const more = names.length > NAMED_PODS ? ' and others' : '';
  const isLate = pods.every(
    ({ metadata }) => Date.parse(metadata.deletionTimestamp ?? metadata.creationTimestamp ?? '') < now.getTime() - LATE_MS,
  );
  return {
    message:
      `${message}; waiting for former pods to ` +
      `end${pods.some(isDeleting) ? ': ' : ', which are among '}${names.slice(0, NAMED_PODS).join(', ')}${more}`,
    retryAfterMs: isLate ? LATE_RETRY_MS : RETRY_MS,
  };
}

/** The value of the annotation that a pass has followed, and the time (RFC 3339). Empty if it followed none. */
export type FollowedRequest = Pick<NonNullable<Tenant['status']>, 'rotation'>;

const repeatedRotation = (
  text: string,
  from: Date,
  retryAfterMs: number,
): { reason: string; message: string; retryAfterMs: number } => ({
  reason: 'RotationRepeated',
  message:
    `annotation ${ROTATE_ANNOTATION}: ${text} was carried out less than 10 minutes ago, and can be repeated from ` +
    `${seconds(from)}; a value that is kept, for example in a repository, needs a suffix of your choice: ${text}/2026-09-01`,
  retryAfterMs,
});

const unknownRotation = (tenant: Tenant, unknown: readonly string[]): { reason: string; message: string } => ({
  reason: 'RotationUnknown',
  message: `annotation ${ROTATE_ANNOTATION}: ${unknown.join(', ')} is none of ${credentialsOf(tenant).join(', ')}, all`,
});

const messageOf = (moving: readonly CredentialName[], stepOf: (name: CredentialName) => string | null): string =>
  `rotates ${moving.map((name) => `${name} (${stepOf(name) ?? 'begins'})`).join(', ')}`;
