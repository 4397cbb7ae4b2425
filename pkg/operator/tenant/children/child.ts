import type { Kind, KubeObject } from '../../../kube/object.ts';
import type { Tenant } from '../../kinds.ts';
import type { OperatorSettings } from '../../settings.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';

/** The input of children, beside the Tenant itself. */
export interface ChildInput {
  readonly accepted: Pick<AcceptedTenant, 'tenantId' | 'hosts' | 'addresses'>;
  readonly settings: OperatorSettings;
}

export interface WorkloadInput extends ChildInput {
  /** Checksums of the Secrets that pods read at their start. */
  readonly checksums: readonly string[];
  /** Replicas of the Deployment. Undefined: its scaler decides. */
  readonly replicas: number | undefined;
}

/** A kind of object that the operator applies for each tenant. */
export interface Child<Input> {
  readonly kind: Kind;
  /** Returns the desired object, or undefined if there must be none. Pure. */
  desired(tenant: Tenant, input: Input): KubeObject | undefined;
  /**
   * A merge patch for an object that the API server would not accept by apply: it replaces lists to which applying can only add.
   */
  replacement?(desired: KubeObject): object;
  /** Fields that keep their live value when `desired` leaves them to another manager. */
  readonly leave?: readonly (readonly string[])[];
}

export const child = <T extends KubeObject, Input>(
  kind: Kind<T>,
  desired: (tenant: Tenant, input: Input) => T | undefined,
  options: { replacement?(desired: T): object; leave?: Child<Input>['leave'] } = {},
): Child<Input> => ({ kind, desired, ...(options as Pick<Child<Input>, 'replacement' | 'leave'>) });
