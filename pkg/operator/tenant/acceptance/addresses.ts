import type { Tenant } from '../../kinds.ts';
import { slugOf } from '../../names.ts';
import type { OperatorSettings } from '../../settings.ts';

export interface Hosts {
  readonly app: string;
  readonly lti: string;
}

export interface Addresses {
  readonly appUrl: string;
  readonly ltiUrl: string;
  readonly apiUrl: string;
}

type Public = Pick<OperatorSettings, 'baseDomain' | 'publicScheme' | 'publicPort'>;

/**
 * Returns the hosts of a tenant: those that it names, otherwise those of its slug below the base domain. `missing` names the
 * fields without which it has no hosts.
 */
export function hostsOf(tenant: Tenant, { baseDomain }: Public): Hosts | { readonly missing: readonly string[] } {
  const own = baseDomain === undefined ? undefined : `${slugOf(tenant)}.${baseDomain}`;
  const app = tenant.spec.hosts?.app ?? own;
  const lti = tenant.spec.hosts?.lti ?? (own === undefined ? undefined : `lti.${own}`);
  if (app !== undefined && lti !== undefined) return { app, lti };
  return { missing: Object.entries({ app, lti }).flatMap(([name, host]) => (host === undefined ? [`spec.hosts.${name}`] : [])) };
}

/**
 * Returns the addresses that clients use, without a slash at the end. A tenant with a certificate of its own uses https at the
 * standard port.
 */
export function addressesOf(tenant: Tenant, hosts: Hosts, settings: Public): Addresses {
  const scheme = tenant.spec.exposure.tls ? 'https' : settings.publicScheme;
  const port = scheme === settings.publicScheme ? settings.publicPort : 443;
  const suffix = port === (scheme === 'https' ? 443 : 80) ? '' : `:${port}`;
  const appUrl = `${scheme}://${hosts.app}${suffix}`;
  return { appUrl, ltiUrl: `${scheme}://${hosts.lti}${suffix}`, apiUrl: `${appUrl}/api/v1` };
}
