import { expect, test } from '@jest/globals';
import { cspSourceOfBuild } from './csp-source.ts';

test.each([
  ['files.example.org', 'files.example.org/assets/'],
  ['files.localhost:8443', 'files.localhost:8443/assets/'],
  ['127.0.0.1', '127.0.0.1/assets/'],
  ['127.0.0.1:3000', '127.0.0.1:3000/assets/'],
  ['127.0.0.10:3000', "'self'"],
  ['192.0.2.7', "'self'"],
  ['[::1]:3000', "'self'"],
  ['10.example.org', '10.example.org/assets/'],
])('under %s the build’s files are %s', (host, source) => {
  expect(cspSourceOfBuild(host)).toBe(source);
});
