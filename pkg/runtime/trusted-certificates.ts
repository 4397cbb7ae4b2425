import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { readBy } from './config.ts';

/** In bytes. The text is one environment variable of each tenant's pods, and Linux accepts at most 128 KiB. */
const TEXT_MAX = 64 * 1024;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
const BEGIN = '-----BEGIN CERTIFICATE-----';

/**
 * Returns the certificates of a PEM bundle, each once and without the text around them, so that a comment changes nothing.
 * Throws an Error that says what is wrong and repeats nothing of the text.
 */
export function parseTrustedCertificates(text: string): string[] {
  if (Buffer.byteLength(text) > TEXT_MAX) {
    throw new Error(`the bundle is larger than ${TEXT_MAX / 1024} KiB: name only authorities that are not public`);
  }
  // The text is written into a ConfigMap of every tenant.
  if (text.includes('PRIVATE KEY-----')) throw new Error('the bundle holds a private key, which does not belong there');
  const found = text.match(CERTIFICATE) ?? [];
  if (found.length === 0) throw new Error('the bundle holds no certificate in PEM');
  if (found.length !== text.split(BEGIN).length - 1)
    throw new Error(`a certificate after the ${ordinal(found.length)} has no end`);
  return [...new Set(found.map((pem, index) => normalized(pem, index + 1)))];
}

function normalized(pem: string, position: number): string {
  try {
    return new X509Certificate(pem).toString();
  } catch {
    throw new Error(`the ${ordinal(position)} certificate of the bundle does not parse`);
  }
}

const ordinal = (position: number): string => {
  const isTeen = position % 100 >= 11 && position % 100 <= 13;
  return `${position}${(isTeen ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[position % 10]) ?? 'th'}`;
};

/** Returns the certificates of a file. Throws as parseTrustedCertificates does, and if the file cannot be read. */
export function readTrustedCertificates(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error });
  }
  return parseTrustedCertificates(text);
}

/** An unset variable means no certificates. */
const certificatesBy = (read: (text: string) => string[]) => readBy(read).default([]);

/** For operator and worker, which have the file mounted. */
export const trustedCertificatesFile = {
  CARREL_TRUSTED_CERTIFICATES_FILE: certificatesBy(readTrustedCertificates).describe(
    'a file of certificate authorities in PEM, at most 64 KiB, ' +
      'trusted beside the public ones by operator, worker and tenants’ servers',
  ),
};

/**
 * For a server, whose pods may be in a namespace without such a file: the operator writes the certificates into its ConfigMap.
 */
export const trustedCertificates = {
  CARREL_TRUSTED_CERTIFICATES: certificatesBy(parseTrustedCertificates).describe(
    'certificate authorities in PEM, at most 64 KiB, trusted beside the public ones',
  ),
};

/** Every TLS connection that this process opens from now on trusts these authorities in addition to Node's own. */
export function trustCertificates(certificates: readonly string[]): void {
  if (certificates.length > 0) setDefaultCACertificates([...getCACertificates('default'), ...certificates]);
}
