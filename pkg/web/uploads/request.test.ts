import { expect, test } from '@jest/globals';
import { type Answer, pauseFor, problemOf } from './request.ts';

const answer = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  text,
  header: (name) => headers[name] ?? null,
});

test("a problem has the API's code and message, the request id, and the seconds to wait", () => {
  const text = JSON.stringify({ error: 'rate_limit_exceeded', message: 'Too many requests.', retry_after: 12 });

  expect(problemOf(answer(429, text, { 'Retry-After': '12', 'X-Request-Id': 'r-1' }))).toEqual({
    code: 'rate_limit_exceeded',
    message: 'Too many requests.',
    retryAfter: 12,
    requestId: 'r-1',
  });
});

test('an answer that is not of the API has its status as its code', () => {
  expect(problemOf(answer(502, '<html>Bad gateway</html>'))).toEqual({ code: 'status_502', message: '' });
  expect(problemOf(answer(404, ''))).toEqual({ code: 'status_404', message: '' });
  expect(problemOf(answer(401, ''))).toEqual({ code: 'unauthenticated', message: '' });
});

test('uploads pause when a tenth of the requests is left, for the page that the person looks at', () => {
  const allowance = { limit: 100, resetAt: 60_000 };

  expect(pauseFor({ ...allowance, remaining: 11 }, 20_000)).toBe(0);
  expect(pauseFor({ ...allowance, remaining: 10 }, 20_000)).toBe(10_000);
});

test('a pause for the rate limit is never shorter than a second, and never longer than 15', () => {
  const allowance = { limit: 100, remaining: 0 };

  expect(pauseFor({ ...allowance, resetAt: 3_600_000 }, 0)).toBe(15_000);
  expect(pauseFor({ ...allowance, resetAt: 0 }, 5_000)).toBe(1_000);
});
