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

export const ignoredFields = (spec: TenantSpec): string[] => IGNORED.filter(({ isUsed }) => isUsed(spec)).map(({ field }) => field);
