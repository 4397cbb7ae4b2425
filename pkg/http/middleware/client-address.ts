import ipaddr from 'ipaddr.js';
import type { Context } from '../state.ts';

/**
 * The client's address behind as many proxies as are trusted (Koa's `maxIpsCount`), so that a client cannot forge it.
 * IPv4 in IPv6 clothes is IPv4; of IPv6 the network of 64 bits, all of which one customer has.
 */
export function clientAddress(ctx: Context): string {
  return normalise(ctx.ip) ?? normalise(ctx.req.socket.remoteAddress ?? '') ?? 'unknown';
}

export function normalise(text: string): string | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  if (address.kind() === 'ipv4') return address.toString();
  return `${(address as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
