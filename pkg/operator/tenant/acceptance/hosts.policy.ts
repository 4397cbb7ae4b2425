import { isSlug } from '../../names.ts';
import type { AllowedHosts, OperatorSettings } from '../../settings.ts';
import type { Hosts } from './addresses.ts';

const ENTRY =
  /^(?:([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)=)?(\*|[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*)$/;

/**
 * Parses entries such as `example.org`, `namespace=example.org` or `*`, separated by commas. Throws an Error that names an
 * invalid entry.
 */
export function parseAllowedHosts(text: string): AllowedHosts[] {
  const entries = text.split(',').map((entry) => entry.trim().toLowerCase());
  return entries.flatMap((entry) => {
    if (entry === '') return [];
    const [, namespace, , suffix] = ENTRY.exec(entry) ?? [];
    if (suffix === undefined) throw new Error(`${entry} is neither a domain, nor namespace=domain, nor *`);
    return [{ namespace, suffix }];
  });
}

const HOST = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/;

/** Parses host names that are separated by commas. Throws an Error that names an invalid entry. */
export function parseHosts(text: string): string[] {
  const hosts = text.split(',').map((entry) => entry.trim().toLowerCase());
  const named = hosts.filter((host) => host !== '');
  const wrong = named.find((host) => !HOST.test(host));
  if (wrong !== undefined) throw new Error(`${wrong} is no host name`);
  return named;
}

type Rules = Pick<OperatorSettings, 'baseDomain' | 'apiHost' | 'allowedHosts' | 'reservedHosts'>;

/** The reason why a tenant may not have a host. */
interface HostRefusal {
  readonly reason: 'HostReserved' | 'HostNotAllowed';
  readonly message: string;
}

/**
 * Decides which hosts a Tenant may have.
 *
 * Invariants:
 * - `<slug>.<base>` and `lti.<slug>.<base>` belong to that slug alone, even if no such tenant exists and whatever else is
 *   allowed.
 * - A reserved host belongs to no tenant.
 * - Any other host lies in a domain that the operator allows the Tenant's namespace.
 */
export function hostRefusalOf(of: { slug: string; namespace: string; hosts: Hosts }, rules: Rules): HostRefusal | undefined {
  const names = [...new Set([of.hosts.app, of.hosts.lti])];
  return names.map((host) => refusalOfHost(host, of, rules)).find((refusal) => refusal !== undefined);
}

function refusalOfHost(host: string, of: { slug: string; namespace: string }, rules: Rules): HostRefusal | undefined {
  const owner = slugOfDefaultHost(host, rules.baseDomain);
  const advice = owner === of.slug ? `set spec.hosts, since ${of.slug} would be there` : 'take another';
  if (host === rules.apiHost || (rules.baseDomain !== undefined && host === `api.${rules.baseDomain}`))
    return { reason: 'HostReserved', message: `${host} is the shared API host; ${advice}` };
  if (host === rules.baseDomain) return { reason: 'HostReserved', message: `${host} is the base domain itself; ${advice}` };
  if (rules.reservedHosts.includes(host))
    return { reason: 'HostReserved', message: `this operator reserves the host ${host}; ${advice}` };
  if (owner === of.slug) return undefined;
  if (owner !== undefined)
    return {
      reason: 'HostNotAllowed',
      message: `spec.hosts: ${host} belongs to the slug ${owner}; choose another host`,
    };
  const domains = rules.allowedHosts.filter(({ namespace }) => namespace === undefined || namespace === of.namespace);
  if (domains.some(({ suffix }) => suffix === '*' || host === suffix || host.endsWith(`.${suffix}`))) return undefined;
  return { reason: 'HostNotAllowed', message: `spec.hosts: ${host} ${notAllowed(of, rules, domains)}` };
}

/** `<slug>.<base>` and `lti.<slug>.<base>` → slug; undefined for every other name. */
export function slugOfDefaultHost(host: string, baseDomain: string | undefined): string | undefined {
  if (baseDomain === undefined || !host.endsWith(`.${baseDomain}`)) return undefined;
  const labels = host.slice(0, -baseDomain.length - 1).split('.');
  const slug = labels.length === 2 && labels[0] === 'lti' ? labels[1] : labels.length === 1 ? labels[0] : undefined;
  return slug !== undefined && isSlug(slug) ? slug : undefined;
}

function notAllowed(
  { slug, namespace }: { slug: string; namespace: string },
  { baseDomain }: Rules,
  domains: readonly AllowedHosts[],
): string {
  const own = baseDomain === undefined ? [] : [`${slug}.${baseDomain} and lti.${slug}.${baseDomain} are this tenant's`];
  const allowed = [...new Set(domains.map(({ suffix }) => suffix))];
  const others = allowed.length === 0 ? [] : [`this namespace may use hosts under ${allowed.join(', ')}`];
  const what = [...own, ...others].join('; ');
  return (
    `is not allowed in namespace ${namespace}${what === '' ? '' : `: ${what}`}. The platform's operator allows ` +
    'domains in CARREL_ALLOWED_HOSTS'
  );
}
