import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { BundleFiles } from './bundle-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-bundle-'));
  mkdirSync(join(folder, 'assets'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const textOf = (files: BundleFiles, path: string): string | undefined => files.read(path)?.plain.body.toString();

test('a file is read when somebody asks for it first, and once', () => {
  write('assets/app.js', 'as it was at the start');
  const files = BundleFiles.in(folder, new Set(['assets/app.js']));

  write('assets/app.js', 'as it was at the first request');
  expect(textOf(files, '/assets/app.js')).toBe('as it was at the first request');
  write('assets/app.js', 'later');
  expect(textOf(files, '/assets/app.js')).toBe('as it was at the first request');
});

test('a file that the build does not name is not served, whatever the path says', () => {
  for (const name of ['assets/app.js', 'assets/secret.txt']) write(name, 'x');
  const files = BundleFiles.in(folder, new Set(['assets/app.js']));
  const paths = ['/assets/secret.txt', '/assets/app.js.br', '/assets/../assets/app.js', 'assets/app.js', '//assets/app.js', '/'];

  expect(paths.filter((path) => files.read(path) !== undefined)).toEqual([]);
});

test('a file has the encodings that the build made, each with an entity tag of its own', () => {
  write('assets/app.css', 'plain');
  write('assets/app.css.br', 'brotli');
  const file = BundleFiles.in(folder, new Set(['assets/app.css'])).read('/assets/app.css');

  expect([...(file?.encoded ?? [])].map(([coding, { body }]) => [coding, body.toString()])).toEqual([['br', 'brotli']]);
  expect(file?.type).toBe('text/css; charset=utf-8');
  expect(file?.plain.etag).not.toBe(file?.encoded.get('br')?.etag);
});

test('a build that lacks a file which it names is refused at the start', () => {
  expect(() => BundleFiles.in(folder, new Set(['assets/gone.js']))).toThrow('assets/gone.js is missing');
});
