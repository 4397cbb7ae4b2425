import { Problem } from '../api/problem.ts';
import { type Helper, HELPER_FIELDS, type HelperKind } from './helper.ts';

/** Throws `helper_not_configured`. */
export function requireHelper(helpers: ReadonlyMap<HelperKind, Helper>, kind: HelperKind): Helper {
  const helper = helpers.get(kind);
  if (helper) return helper;
  const message =
    'This institution has no such helper service. An administrator of the platform can configure one ' +
    `(spec.helpers.${HELPER_FIELDS[kind]} of the Tenant).`;
  throw new Problem('helper_not_configured', message);
}
