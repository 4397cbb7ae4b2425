import { expect, test } from '@jest/globals';
import { type FramedBy, frameAncestors } from './frame-ancestors.policy.ts';

const LMS: FramedBy = {
  returnUrl: null,
  platformUrl: null,
  issuer: 'https://lms.example.org',
  authEndpoint: 'https://lms.example.org/auth',
  frameAncestors: [],
};

test('issuer and auth endpoint of one origin are one source', () => {
  expect(frameAncestors(LMS)).toBe('https://lms.example.org');
});

test('return_url, tool_platform.url and what the registration lists are added', () => {
  const by = {
    ...LMS,
    returnUrl: 'https://school.example.org:8443/courses/1?x=y',
    platformUrl: 'https://campus.example.org/',
    frameAncestors: ['https://*.example.edu', 'https://school.example.org:8443'],
  };

  expect(frameAncestors(by)).toBe(
    'https://school.example.org:8443 https://campus.example.org https://lms.example.org https://*.example.edu',
  );
});

test('an issuer that is not an address is ignored', () => {
  expect(frameAncestors({ ...LMS, issuer: 'urn:lms:1' })).toBe('https://lms.example.org');
  expect(frameAncestors({ ...LMS, issuer: 'urn:lms:1', authEndpoint: 'nowhere' })).toBe("'none'");
});

test.each([
  'https://*',
  'https://*.example.net/',
  'https://a;sandbox',
  'https://a,b.example.org',
  "https://a'none'",
  'http://plain.example.org/',
  'javascript:alert(1)',
  'https://a%3bscript-src',
])('the return_url %s adds no source', (returnUrl) => {
  expect(frameAncestors({ ...LMS, returnUrl })).toBe('https://lms.example.org');
});

test('plain http counts on this machine, and where an administrator says so', () => {
  const by = {
    ...LMS,
    returnUrl: 'http://lms.localhost:8080/x',
    platformUrl: 'http://127.0.0.1:3000',
    frameAncestors: ['http://lms.example.net'],
  };

  expect(frameAncestors(by)).toBe(
    'http://lms.localhost:8080 http://127.0.0.1:3000 https://lms.example.org http://lms.example.net',
  );
});

test.each(['*', "'self'", 'https:', 'https://a b', 'https://a;b', "https://x.example.org 'unsafe-inline'"])(
  'the listed ancestor %j is left out',
  (source) => {
    expect(frameAncestors({ ...LMS, frameAncestors: [source] })).toBe('https://lms.example.org');
  },
);
