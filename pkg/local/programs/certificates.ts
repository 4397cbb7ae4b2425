import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';

/**
 * X.509 certificates (RFC 5280) for the programs of one machine: ECDSA P-256, made by node:crypto and a few lines of DER. Node
 * signs but does not write certificates, and not every machine has openssl.
 */
export interface CertificatePair {
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  readonly organization?: string;
}

const YEARS = 10;
const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
};

/** Creates a certificate authority of our own, valid for ten years. */
export function createAuthority(commonName: string, now: Date): CertificatePair {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const extensions = [
    extension(OID.basicConstraints, true, sequence(boolean(true))),
    extension(OID.keyUsage, true, bitString(Buffer.from([0x06]), 1)), // keyCertSign, cRLSign
  ];
  return write({ commonName }, { commonName }, keys, keys.privateKey, extensions, now);
}

/** Creates a certificate for a server at `names` (addresses and host names) and, with the same subject, for a client. */
export function createCertificate(
  authority: CertificatePair,
  subject: Subject,
  names: readonly string[],
  now: Date,
): CertificatePair {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const alternative = names.map((name) =>
    isIP(name) === 4 ? tagged(0x87, Buffer.from(name.split('.').map(Number))) : tagged(0x82, Buffer.from(name)),
  );
  const extensions = [
    extension(OID.keyUsage, true, bitString(Buffer.from([0x80]), 7)), // digitalSignature
    extension(OID.extendedKeyUsage, false, sequence(objectId(OID.serverAuth), objectId(OID.clientAuth))),
    ...(alternative.length > 0 ? [extension(OID.subjectAltName, false, sequence(...alternative))] : []),
  ];
  return write(subject, { commonName: commonNameOf(authority) }, keys, createPrivateKey(authority.key), extensions, now);
}

/** Returns the authority's own name: its subject was made here and has only the common name. */
function commonNameOf(authority: CertificatePair): string {
  const der = Buffer.from(authority.certificate.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  const at = der.indexOf(objectId(OID.commonName)) + objectId(OID.commonName).length;
  return der.subarray(at + 2, at + 2 + (der[at + 1] ?? 0)).toString('utf8');
}

function write(
  subject: Subject,
  issuer: Subject,
  keys: { publicKey: KeyObject; privateKey: KeyObject },
  signer: KeyObject,
  extensions: Buffer[],
  now: Date,
): CertificatePair {
  const algorithm = sequence(objectId(OID.ecdsaWithSha256));
  const from = new Date(now.getTime() - 3_600_000); // Clocks of virtual machines drift.
  const until = new Date(now);
  until.setUTCFullYear(until.getUTCFullYear() + YEARS);
  const toBeSigned = sequence(
    tagged(0xa0, integer(Buffer.from([2]))), // version 3
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    distinguishedName(issuer),
    sequence(time(from), time(until)),
    distinguishedName(subject),
    createPublicKey(keys.publicKey.export({ type: 'spki', format: 'pem' })).export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions)),
  );
  const certificate = sequence(toBeSigned, algorithm, bitString(sign('sha256', toBeSigned, signer), 0));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

const distinguishedName = ({ commonName, organization }: Subject): Buffer => {
  const attribute = (oid: string, value: string): Buffer =>
    tagged(0x31, sequence(objectId(oid), tagged(0x0c, Buffer.from(value))));
  return sequence(
    ...(organization === undefined ? [] : [attribute(OID.organization, organization)]),
    attribute(OID.commonName, commonName),
  );
};

const extension = (oid: string, critical: boolean, value: Buffer): Buffer =>
  sequence(objectId(oid), ...(critical ? [boolean(true)] : []), tagged(0x04, value));

function tagged(tag: number, content: Buffer): Buffer {
  const length: number[] = [];
  if (content.length < 0x80) length.push(content.length);
  else {
    for (let rest = content.length; rest > 0; rest >>= 8) length.unshift(rest & 0xff);
    length.unshift(0x80 | length.length);
  }
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const sequence = (...items: Buffer[]): Buffer => tagged(0x30, Buffer.concat(items));
const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes);
const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]));
const bitString = (bytes: Buffer, unusedBits: number): Buffer => tagged(0x03, Buffer.concat([Buffer.from([unusedBits]), bytes]));

/** UTCTime before 2050, GeneralizedTime from then on (RFC 5280 §4.1.2.5). */
function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]|\.\d+/g, '');
  return at.getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const group = [part & 0x7f];
    for (let more = part >> 7; more > 0; more >>= 7) group.unshift(0x80 | (more & 0x7f));
    bytes.push(...group);
  }
  return tagged(0x06, Buffer.from(bytes));
}
