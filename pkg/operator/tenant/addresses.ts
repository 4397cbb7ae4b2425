import type { Tenant } from '../kinds.ts';
import { slugOf } from '../names.ts';
import type { OperatorSettings } from '../settings.ts';

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

/** The hosts of a tenant; a field is undefined where it is not given and the operator has no base domain. */
export function hostsOf(tenant: Tenant, settings: Public): { app: string | undefined; lti: string | undefined } {
  const own = settings.baseDomain === undefined ? undefined : `${slugOf(tenant)}.${settings.baseDomain}`;
  return {
    app: tenant.spec.hosts?.app ?? own,
    lti: tenant.spec.hosts?.lti ?? (own === undefined ? undefined : `lti.${own}`),
  };
}

/** Addresses as a client dials them, without a slash at the end. With a certificate of the tenant's own it is https on its standard port. */
export function addressesOf(tenant: Tenant, hosts: Hosts, settings: Public): Addresses {
  const scheme = tenant.spec.exposure.tls ? 'https' : settings.publicScheme;
  const port = scheme === settings.publicScheme ? settings.publicPort : 443;
  const suffix = port === (scheme === 'https' ? 443 : 80) ? '' : `:${port}`;
  const appUrl = `${scheme}://${hosts.app}${suffix}`;
  return { appUrl, ltiUrl: `${scheme}://${hosts.lti}${suffix}`, apiUrl: `${appUrl}/api/v1` };
}
