import type { IncomingMessage } from 'node:http';
import { Problem } from '../../api/problem.ts';
import { FORM_BYTES_MAX } from '../size-and-time-limits.ts';
import { mediaType, readBytes } from './body.ts';
import { parseJson } from './json.ts';

const JSON_TYPE = 'application/json';

/**
 * Reads JSON that a program posted outside of the API. `owner` is the caller whose share of the memory for bodies it uses.
 * Problems: 400, 408, 413, 415, 503.
 */
export async function readPostedJson(request: IncomingMessage, owner: string): Promise<unknown> {
  if (mediaType(request) !== JSON_TYPE) throw new Problem('unsupported_media_type', `This address takes ${JSON_TYPE}.`);
  return readBytes(request, { owner, maxBytes: FORM_BYTES_MAX }, parseJson);
}
