/**
 * Writes pkg/accounts/common-passwords.generated.ts from npm's @zxcvbn-ts/language-common (MIT), whose list is ordered by how
 * common they are:
 *
 *   npm install --no-save --prefix /tmp/list @zxcvbn-ts/language-common@4.1.3
 *   node hack/common-passwords.ts /tmp/list/node_modules/@zxcvbn-ts/language-common
 *
 * The package itself is not kept: loading it takes 20 MB.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deflateRawSync } from 'node:zlib';

const COUNT = 10_000;
/** Shorter ones are refused for that. */
const MIN_LENGTH = 8;

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('node hack/common-passwords.ts <folder of @zxcvbn-ts/language-common>');
const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
const { dictionary } = (await import(pathToFileURL(join(folder, 'dist/index.mjs')).href)) as {
  dictionary: Record<string, string[]>;
};
const listed = (dictionary['passwords-common'] ?? []).map((password) => password.toLowerCase());
const common = [...new Set(listed)]
  .filter((password) => password.length >= MIN_LENGTH && /^[!-~]+$/.test(password))
  .slice(0, COUNT);
const packed = deflateRawSync(common.toSorted().join('\n'), { level: 9 }).toString('base64');

writeFileSync(
  new URL('../pkg/accounts/common-passwords.generated.ts', import.meta.url),
  `// Made by hack/common-passwords.ts of @zxcvbn-ts/language-common ${version}. Do not edit.
// MIT licence. Copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc. Copyright (c) 2021 @zxcvbn-ts

/**
 * The ${common.length} most common passwords of ${MIN_LENGTH} characters and more, in lower case, one a line: raw deflate in
 * base64.
 */
export const PACKED =
  '${packed}';
`,
);
