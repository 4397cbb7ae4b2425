import type { StepCondition } from './conditions/runner.ts';
import type { LtiRegistration, TenantSpec } from './kinds.ts';

interface Field<Spec> {
  readonly field: string;
  readonly isUsed: (spec: Spec) => boolean;
}

/** Fields that the schema allows and that do nothing yet: the tenant runs as well without them. */
const OF_TENANTS: readonly Field<TenantSpec>[] = [];

const OF_REGISTRATIONS: readonly Field<LtiRegistration['spec']>[] = [
  { field: 'spec.consumerKey', isUsed: (spec) => spec.consumerKey !== undefined },
];

/** The condition `FieldsIgnored` of a Tenant. */
export const fieldsIgnoredOfTenant = (spec: TenantSpec): StepCondition => fieldsIgnored(OF_TENANTS, spec);
/** The condition `FieldsIgnored` of an LtiRegistration. */
export const fieldsIgnoredOfRegistration = (spec: LtiRegistration['spec']): StepCondition =>
  fieldsIgnored(OF_REGISTRATIONS, spec);

function fieldsIgnored<Spec>(fields: readonly Field<Spec>[], spec: Spec): StepCondition {
  const ignored = fields.filter(({ isUsed }) => isUsed(spec)).map(({ field }) => field);
  if (ignored.length === 0) return { type: 'FieldsIgnored', status: 'False', reason: 'AllSupported', message: '' };
  const message = `not supported yet and ignored: ${ignored.join('; ')}`;
  return { type: 'FieldsIgnored', status: 'True', reason: 'NotYetSupported', message };
}
