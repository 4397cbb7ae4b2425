import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A private range that may be reached (`CARREL_EGRESS_ALLOW`). */
export type AllowedRange = readonly [Address, number];

/** All public unicast IPv6 lies here (IANA). Addresses outside, such as the IPv4-compatible `::127.0.0.1`, are not dialled. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** The prefix under which DNS64 maps a public IPv4 address (RFC 6052 §2.1): the address in it decides. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** A public address that belongs to the cloud platform: Azure's metadata, DNS and agent server. */
const PLATFORM = new Set(['168.63.129.16']);
/** The middle of an ISATAP interface identifier (RFC 5214 §6.1), which hides an IPv4 address under any prefix. */
const ISATAP = 0x5efe;

/**
 * Public addresses as ranges with holes, for rules that know only ranges (NetworkPolicy). They allow no more than
 * `isPrivateAddress` does, except for the tunnelled and documentation addresses of IPv6.
 */
export const PUBLIC_RANGES: readonly { readonly cidr: string; readonly except?: readonly string[] }[] = [
  {
    cidr: '0.0.0.0/0',
    except: [
      '0.0.0.0/8',
      '10.0.0.0/8',
      '100.64.0.0/10',
      '127.0.0.0/8',
      '168.63.129.16/32',
      '169.254.0.0/16',
      '172.16.0.0/12',
      '192.168.0.0/16',
      '198.18.0.0/15',
      '224.0.0.0/3',
    ],
  },
  { cidr: '2000::/3' },
];

/** Reads `10.1.0.0/16,::1/128`. Throws an Error that names the invalid entry. */
export function parseAllowedRanges(text: string): AllowedRange[] {
  const entries = text.split(',').map((entry) => entry.trim());
  return entries
    .filter((entry) => entry !== '')
    .map((entry) => {
      if (!ipaddr.isValidCIDR(entry)) throw new Error(`${entry} is not an address range such as 127.0.0.0/8`);
      return ipaddr.parseCIDR(entry);
    });
}

/** `localhost` and names below it, which mean loopback, whatever a name server answers (RFC 6761 §6.3). */
export const isLocalhost = (name: string): boolean => /(^|\.)localhost\.?$/i.test(name);

/** The addresses of `isLocalhost` names. */
export const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

/**
 * Returns true for anything but a public unicast address: loopback, private, link-local, carrier NAT, mapped, translated,
 * tunnelled, multicast, reserved, documentation, a cloud's metadata service. Also true for any text that is not an IP address in
 * its usual notation. False for an address in an allowed range.
 */
export function isPrivateAddress(address: string, allowed: readonly AllowedRange[]): boolean {
  const ip = addressOf(address);
  return ip === undefined || !(isPublic(ip) || isIn(ip, allowed));
}

/** Returns true if an address lies in a range that was opened on purpose. */
export function isOpened(address: string, allowed: readonly AllowedRange[]): boolean {
  const ip = addressOf(address);
  return ip !== undefined && isIn(ip, allowed);
}

/**
 * Returns the private address in a URL's host; undefined if there is none. It is an IP address in any notation that URL accepts
 * (`0x7f.1`, `2130706433`, `[::ffff:10.0.0.1]`), `localhost` or a name below it. Throws TypeError if the text is not a URL. A
 * name that only resolves to a private address is found when it is dialled.
 */
export function literalPrivateAddress(url: string, allowed: readonly AllowedRange[]): string | undefined {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const addresses = isLocalhost(host) ? LOOPBACK : [host];
  return addresses.some((address) => isIP(address) !== 0 && isPrivateAddress(address, allowed)) ? host : undefined;
}

/** Returns the address that a packet would reach: the IPv4 address of a mapped one. Undefined if the text is not an address. */
function addressOf(text: string): Address | undefined {
  if (isIP(text) === 0) return undefined;
  const ip = ipaddr.process(text);
  if (ip instanceof ipaddr.IPv6 && ip.match(NAT64)) return new ipaddr.IPv4(ip.toByteArray().slice(12));
  return ip;
}

function isPublic(ip: Address): boolean {
  if (ip.range() !== 'unicast' || PLATFORM.has(ip.toString())) return false;
  return ip instanceof ipaddr.IPv4 || (ip.match(GLOBAL_IPV6) && ip.parts[5] !== ISATAP);
}

function isIn(ip: Address, ranges: readonly AllowedRange[]): boolean {
  return ranges.some(([range, bits]) => range.kind() === ip.kind() && ip.match(range, bits));
}
