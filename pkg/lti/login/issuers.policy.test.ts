import { expect, test } from '@jest/globals';
import { isNearly } from './issuers.policy.ts';

test.each([
  ['https://lms.example.org/', 'https://lms.example.org'],
  ['http://lms.example.org', 'https://lms.example.org'],
  ['https://www.lms.example.org', 'https://lms.example.org'],
  ['https://LMS.example.org:443', 'https://lms.example.org'],
  ['lms.example.org', 'https://lms.example.org'],
  ['https://lms.example.org/moodle/', 'https://lms.example.org/moodle'],
  ['http://localhost:8080', 'http://127.0.0.1:8080'],
  ['http://[::1]:8080/', 'http://localhost:8080'],
  ['urn:lms:1/', 'urn:lms:1'],
  [' https://lms.example.org', 'https://lms.example.org'],
])('%j is nearly %j', (issuer, registered) => {
  expect([isNearly(issuer, registered), isNearly(registered, issuer)]).toEqual([true, true]);
});

test.each([
  ['https://stranger.example.org', 'https://lms.example.org'],
  ['https://lms.example.org.evil.example', 'https://lms.example.org'],
  ['https://lms.example.org/other', 'https://lms.example.org'],
  ['https://lms.example.org:8443', 'https://lms.example.org'],
  ['http://localhost:8081', 'http://127.0.0.1:8080'],
  ['urn:lms:2', 'urn:lms:1'],
  ['https://lms.example.org/?any+text+to+an+administrator', 'https://lms.example.org'],
  ['https://lms.example.org?', 'https://lms.example.org'],
  ['https://lms.example.org/#any-text', 'https://lms.example.org'],
  ['https://any-text@lms.example.org', 'https://lms.example.org'],
  ['https://any:text@lms.example.org/', 'https://lms.example.org'],
  ['https://lms.example.org/any/text/../..', 'https://lms.example.org'],
  ['https://lms.example.org/any/text/%2e%2e/%2e%2e', 'https://lms.example.org'],
  ['https://lms.example.org\\any\\..', 'https://lms.example.org'],
  ['https://lms.example.org/a\nb', 'https://lms.example.org/ab'],
  ['', 'https://lms.example.org'],
  ['https://', 'https://lms.example.org'],
])('%j is not %j', (issuer, registered) => {
  expect(isNearly(issuer, registered)).toBe(false);
});
