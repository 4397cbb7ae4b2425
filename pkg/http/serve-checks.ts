import { Readable } from 'node:stream';
import type { z } from 'zod';
import { type Endpoint, EVENT_STREAM, problemsOf, type Reply } from '../api/endpoint.ts';
import { problemOf } from './middleware/errors.ts';
import { successHeaders } from './openapi/headers.ts';
import { strict } from './request/validate.ts';
import type { Handler } from './request-state.ts';
import { isBytes } from './send.ts';

/** Checks of the tests (`ServeDeps.exact`): what an endpoint answers is what it declares. */

/** Fails for a problem that the endpoint does not declare. */
export function declaredProblems(endpoint: Endpoint, handler: Handler): Handler {
  const codes = new Set(problemsOf(endpoint));
  return async (ctx) => {
    try {
      await handler(ctx);
    } catch (error) {
      if (!codes.has(problemOf(error).code))
        throw new TypeError(`${endpoint.path} does not declare ${problemOf(error).code}`, { cause: error });
      throw error;
    }
  };
}

/** Fails for a reply that the endpoint does not declare. */
export function requireDeclaredReply(endpoint: Endpoint, reply: Reply): void {
  const shape = endpoint.replies[reply.status];
  if (shape === undefined) throw new TypeError(`${endpoint.path} does not declare status ${reply.status}`);
  if (
    shape === null
      ? reply.body !== undefined
      : 'stream' in shape
        ? !isBytes(reply.body) && reply.body !== undefined
        : !(endpoint.followed && isStreamOf(EVENT_STREAM, reply)) &&
          !endpoint.exported?.some((type) => isStreamOf(type, reply)) &&
          !isShape(shape, reply.body)
  )
    throw new TypeError(`${endpoint.path}: the body of its ${reply.status} is not what it declares`);
  const headers = new Set<string>(
    [...successHeaders(endpoint, reply.status, false), ...OF_CONTENT].map((name) => name.toLowerCase()),
  );
  const other = Object.keys(reply.headers ?? {}).find((name) => !headers.has(name.toLowerCase()));
  if (other !== undefined) throw new TypeError(`${endpoint.path} does not declare the header ${other}`);
}

/** Headers that the OpenAPI document states by the media type of a reply. */
const OF_CONTENT = ['Content-Type', 'Content-Length'];

const isStreamOf = (type: string, { body, headers }: Reply): boolean =>
  body instanceof Readable && headers?.['content-type'] === type;
const isShape = (shape: z.ZodType, body: unknown): boolean => strict(shape).safeParse(JSON.parse(JSON.stringify(body))).success;
