import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { Context } from '../request-state.ts';

/**
 * Returns the client's address behind the trusted proxies (Koa's `maxIpsCount`), so that a client cannot forge it.
 * An IPv4-mapped address is returned as IPv4. For IPv6 it is the 64-bit network, all of which belongs to one customer.
 */
export function clientAddress(ctx: Context): string {
  return known(ctx.ip) ?? known(ctx.req.socket.remoteAddress ?? '') ?? 'unknown';
}

/** Caches normalised addresses: a client sends several requests, and often all of them come through one proxy. */
const NORMALISED = new LRUCache<string, string>({ max: 1_000 });
/** The longest IPv6 text with an IPv4 address inside; an address with a zone may be longer. */
const ADDRESS_MAX = 45;

function known(text: string): string | undefined {
  const cached = NORMALISED.get(text);
  if (cached !== undefined) return cached;
  const normalised = normalise(text);
  // A copy: the text may be a slice of a header of 16 KiB, which it would hold in memory.
  if (normalised !== undefined && text.length <= ADDRESS_MAX)
    NORMALISED.set(Buffer.from(text, 'latin1').toString('latin1'), normalised);
  return normalised;
}

export function normalise(text: string): string | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  if (address.kind() === 'ipv4') return address.toString();
  return network((address as ipaddr.IPv6).parts.slice(0, 4), 64);
}

/** Returns an IPv6 network as RFC 5952 writes it: `::` stands for all zeros at its end. */
function network(parts: readonly number[], bits: number): string {
  const lastAt = parts.findLastIndex((part) => part !== 0);
  return `${parts
    .slice(0, lastAt + 1)
    .map((part) => part.toString(16))
    .join(':')}::/${bits}`;
}

/**
 * Returns the network of a normalised address: an IPv4 address itself; for IPv6 the /56, since one connection often has 256
 * networks of 64 bits (RIPE-690 §4.2).
 */
export function networkOf(address: string): string {
  if (!address.endsWith('::/64')) return address;
  const parts = address.slice(0, -'::/64'.length).split(':');
  return network(
    parts.map((part, at) => Number.parseInt(part || '0', 16) & (at === 3 ? 0xff00 : 0xffff)),
    56,
  );
}
