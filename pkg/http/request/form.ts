import type { IncomingMessage } from 'node:http';
import { Problem } from '../../api/problem.ts';
import { mediaType, readBytes } from './body.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';

/** An id_token with all that an LMS may tell is far shorter. */
const FORM_BYTES_MAX = 256 * 1024;

/** Reads a form that a browser posted; `owner`: whose share of the memory for bodies it has. Problems: 400, 408, 413, 415, 503. */
export async function readForm(request: IncomingMessage, owner: string): Promise<URLSearchParams> {
  if (mediaType(request) !== FORM_TYPE) throw new Problem('unsupported_media_type', `This address takes ${FORM_TYPE}.`);
  return new URLSearchParams((await readBytes(request, { owner, maxBytes: FORM_BYTES_MAX })).toString('utf8'));
}
