import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { readConfig } from './config.ts';
import { parseTrustedCertificates, trustedCertificates, trustedCertificatesFile } from './trusted-certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'carrel-trust-'));
afterAll(() => rmSync(folder, { recursive: true }));

const [first = '', second = ''] = rootCertificates;
const FILE = z.object(trustedCertificatesFile);
const ADVICE =
  'Set it to a file of certificate authorities in PEM, at most 64 KiB, ' +
  'trusted beside the public ones by operator, worker and tenants’ servers (docs/operate/settings.md).';

/** Returns the operator's message about a file with this text. */
function saidOf(text: string): string {
  const path = join(folder, `${randomBytes(4).toString('hex')}.pem`);
  writeFileSync(path, text);
  try {
    readConfig('operator', FILE, { CARREL_TRUSTED_CERTIFICATES_FILE: path });
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing';
}

test('parsing a bundle returns each certificate once, whatever is written around them', () => {
  const plain = parseTrustedCertificates(`${first}\n${second}\n`);

  expect(plain).toHaveLength(2);
  expect(
    parseTrustedCertificates(`# ours\r\n${first.replaceAll('\n', '\r\n')}\r\n\r\n# the other\n${second}\n${first}\n`),
  ).toEqual(plain);
  expect(parseTrustedCertificates(plain.join(''))).toEqual(plain);
});

test.each([
  ['', 'the bundle holds no certificate in PEM'],
  ['not a certificate', 'the bundle holds no certificate in PEM'],
  [`${first}\n-----BEGIN CERTIFICATE-----\nAAAA\n`, 'a certificate after the 1st has no end'],
  [
    `${first}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    'the 2nd certificate of the bundle does not parse',
  ],
  [
    `${first}\n-----BEGIN EC PRIVATE KEY-----\nsecret\n-----END EC PRIVATE KEY-----\n`,
    'the bundle holds a private key, which does not belong there',
  ],
  [`${first}\n`.repeat(100), 'the bundle is larger than 64 KiB: name only authorities that are not public'],
])('a bundle that cannot be used (%#) is one line that repeats nothing of it', (text, message) => {
  expect(saidOf(text)).toBe(`operator: CARREL_TRUSTED_CERTIFICATES_FILE is not valid: ${message}. ${ADVICE}`);
});

test('a missing file results in one line, and an unset path in no certificates', () => {
  const missing = { CARREL_TRUSTED_CERTIFICATES_FILE: join(folder, 'missing') };

  expect(() => readConfig('operator', FILE, missing)).toThrow(
    `operator: CARREL_TRUSTED_CERTIFICATES_FILE is not valid: ${folder}/missing cannot be read (ENOENT). ${ADVICE}`,
  );
  expect(readConfig('operator', FILE, {})).toEqual({ CARREL_TRUSTED_CERTIFICATES_FILE: [] });
  expect(readConfig('server', z.object(trustedCertificates), {})).toEqual({ CARREL_TRUSTED_CERTIFICATES: [] });
});
