import ipaddr from 'ipaddr.js';

/** A range that stays reachable although it leads inside (`CARREL_EGRESS_ALLOW`). */
export type AllowedRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Reads `10.1.0.0/16,::1/128`. Throws Error that names the entry that is none. */
export function parseAllowedRanges(text: string): AllowedRange[] {
  const entries = text.split(',').map((entry) => entry.trim());
  return entries
    .filter((entry) => entry !== '')
    .map((entry) => {
      if (!ipaddr.isValidCIDR(entry)) throw new Error(`${entry} is no address range such as 127.0.0.0/8`);
      return ipaddr.parseCIDR(entry);
    });
}

/** Whether an IP address is anything but a public unicast address: loopback, private, link-local, carrier NAT, mapped, translated, reserved. */
export function isInward(address: string, allowed: readonly AllowedRange[]): boolean {
  const ip = ipaddr.process(address);
  if (ip.range() === 'unicast') return false;
  return !allowed.some(([range, bits]) => range.kind() === ip.kind() && ip.match(range, bits));
}

/**
 * The inward address that stands literally in a URL, undefined when there is none: an IP address in any notation that URL knows
 * (`0x7f.1`, `2130706433`, `[::ffff:10.0.0.1]`), `localhost` and names below it, which lead to loopback (RFC 6761 §6.3).
 * A name that only resolves to one is found when it is dialled.
 */
export function literalInwardAddress(url: string, allowed: readonly AllowedRange[]): string | undefined {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const addresses = host === 'localhost' || host.endsWith('.localhost') ? ['127.0.0.1', '::1'] : [host];
  return addresses.some((address) => ipaddr.isValid(address) && isInward(address, allowed)) ? host : undefined;
}
