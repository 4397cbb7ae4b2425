import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isPrivateAddress, literalPrivateAddress } from './private-address.ts';

/**
 * IANA's special-purpose IPv4 registry (RFC 6890 and later), multicast and Azure's platform address, as base and bits. This list
 * does not come from the code's own source.
 */
const REFUSED_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** The first bits of IPv6 ranges that are refused whole, as a number of `bits` bits. */
const REFUSED_IPV6: readonly (readonly [bigint, number])[] = [
  [0x00n, 8], // unspecified, loopback, compatible, mapped, translated; see below for the addresses that they wrap
  [0x01n, 8], // discard
  [0x2001_0000n >> 9n, 23], // Teredo, benchmarking, ORCHID
  [0x2001_0db8n, 32],
  [0x2002n, 16], // 6to4
  [0x3fff0n, 20], // documentation
  [0x5f00n, 16],
  [0b010n, 3],
  [0b011n, 3],
  [0b1n, 1], // unique local, link-local, site-local, multicast and everything unassigned
];

const number = (dotted: string): number => dotted.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
const octets = (ip: number): number[] => [ip >>> 24, (ip >>> 16) & 255, (ip >>> 8) & 255, ip & 255];
const dotted = (ip: number): string => octets(ip).join('.');
const hex = (ip: number): string => `${(ip >>> 16).toString(16)}:${(ip & 0xffff).toString(16)}`;

const inRefusedIpv4 = (ip: number): boolean =>
  REFUSED_IPV4.some(([base, bits]) => Math.floor(ip / 2 ** (32 - bits)) === Math.floor(number(base) / 2 ** (32 - bits)));

const refusedIpv4 = fc
  .tuple(fc.constantFrom(...REFUSED_IPV4), fc.nat({ max: 2 ** 32 - 1 }))
  .map(([[base, bits], rest]) => number(base) + (rest % 2 ** (32 - bits)));

const refusedIpv6 = fc
  .tuple(fc.constantFrom(...REFUSED_IPV6), fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }))
  .map(([[prefix, bits], rest]) => (prefix << BigInt(128 - bits)) | (rest & ((1n << BigInt(128 - bits)) - 1n)))
  .filter((ip) => !wrapsPublicIpv4(ip));

/** The two blocks whose IPv4 address decides: mapped (`::ffff:0:0/96`) and NAT64 (`64:ff9b::/96`). */
function wrapsPublicIpv4(ip: bigint): boolean {
  const prefix = ip >> 32n;
  return (prefix === 0xffffn || prefix === 0x64_ff9bn << 64n) && !inRefusedIpv4(Number(ip & 0xffffffffn));
}

/** Each way to write an IPv4 address into a URL's host (WHATWG URL, IPv4 parser), and each IPv6 address that leads to it. */
function formsOfIpv4(ip: number): string[] {
  const [a, b, c, d] = octets(ip) as [number, number, number, number];
  const octal = (part: number): string => `0${part.toString(8)}`;
  const flipped = ~ip >>> 0;
  return [
    dotted(ip),
    `${dotted(ip)}.`,
    String(ip),
    `0x${ip.toString(16)}`,
    `0X${ip.toString(16).toUpperCase()}`,
    octal(ip),
    `00000${octal(ip)}`,
    octets(ip).map(octal).join('.'),
    octets(ip)
      .map((part) => `0x${part.toString(16)}`)
      .join('.'),
    `${octal(a)}.${b}.0x${c.toString(16)}.${d}`,
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    dotted(ip).replaceAll(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`),
    `[::ffff:${dotted(ip)}]`,
    `[::FFFF:${hex(ip)}]`,
    `[0:0:0:0:0:ffff:${hex(ip)}]`,
    `[::${dotted(ip)}]`,
    `[::ffff:0:${dotted(ip)}]`,
    `[64:ff9b::${dotted(ip)}]`,
    `[64:ff9b:1::${hex(ip)}]`,
    `[2002:${hex(ip)}::1]`,
    `[2001:0:4136:e378:8000:63bf:${hex(flipped)}]`,
    `[2606:4700::5efe:${dotted(ip)}]`,
  ];
}

function formsOfIpv6(ip: bigint): string[] {
  const groups = Array.from({ length: 8 }, (_, index) => Number((ip >> BigInt(16 * (7 - index))) & 0xffffn).toString(16));
  const full = groups.map((group) => group.padStart(4, '0')).join(':');
  const embedded = `${groups.slice(0, 6).join(':')}:${dotted(Number(ip & 0xffffffffn))}`;
  return [groups.join(':'), full, full.toUpperCase(), embedded, new URL(`http://[${full}]/`).hostname.slice(1, -1)];
}

test('an IPv4 address of a refused range is refused in all its forms', () => {
  fc.assert(
    fc.property(refusedIpv4, (ip) => {
      const passed = formsOfIpv4(ip).filter((form) => literalPrivateAddress(`https://${form}/`, []) === undefined);
      expect(passed).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('an IPv6 address of a refused range is refused in all its forms, in a URL and in a DNS answer', () => {
  fc.assert(
    fc.property(refusedIpv6, (ip) => {
      const passed = formsOfIpv6(ip).filter(
        (form) => !isPrivateAddress(form, []) || literalPrivateAddress(`https://[${form}]/`, []) === undefined,
      );
      expect(passed).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('an IPv4 address is refused exactly when it lies in a refused range', () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 32 - 1 }), (ip) => {
      expect(isPrivateAddress(dotted(ip), [])).toBe(inRefusedIpv4(ip));
    }),
    { numRuns: 2_000 },
  );
});

test('the first and last address of each refused range are refused', () => {
  for (const [base, bits] of REFUSED_IPV4) {
    expect([base, isPrivateAddress(base, []), isPrivateAddress(dotted(number(base) + 2 ** (32 - bits) - 1), [])]).toEqual([
      base,
      true,
      true,
    ]);
  }
});
