import type { TenantSpec } from '../kinds.ts';

interface Field {
  readonly field: string;
  readonly isUsed: (spec: TenantSpec) => boolean;
}

/** Fields that the schema allows and that do nothing yet: the tenant runs as well without them. */
const IGNORED: readonly Field[] = [
  { field: 'spec.helpers', isUsed: (spec) => Object.keys(spec.helpers ?? {}).length > 0 },
  { field: 'spec.schedules', isUsed: (spec) => (spec.schedules?.length ?? 0) > 0 },
];

/** Fields that the tenant needs to be reachable: the tenant must not be Ready without them. */
const REFUSED: readonly Field[] = [{ field: 'spec.exposure.type: Gateway', isUsed: (spec) => spec.exposure.type === 'Gateway' }];

const used = (fields: readonly Field[], spec: TenantSpec): string[] =>
  fields.filter(({ isUsed }) => isUsed(spec)).map(({ field }) => field);

export const ignoredFields = (spec: TenantSpec): string[] => used(IGNORED, spec);
export const refusedFields = (spec: TenantSpec): string[] => used(REFUSED, spec);
