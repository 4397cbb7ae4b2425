import type { IncomingMessage } from 'node:http';
import { Problem } from '../../api/problem.ts';
import { mediaType, readBytes } from './body.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Reads a form that a browser posted. Problems: 408, 413, 415. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  if (mediaType(request) !== FORM_TYPE) throw new Problem('unsupported_media_type', `This address takes ${FORM_TYPE}.`);
  return new URLSearchParams((await readBytes(request)).toString('utf8'));
}
