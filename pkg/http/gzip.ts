import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Context } from './request-state.ts';

/** In characters. Below it a slow connection gains little. */
const LEAST_LENGTH = 16 * 1024;

export const isWorthGzip = (json: string): boolean => json.length >= LEAST_LENGTH;

/** Returns true if the client takes gzip (RFC 9110 §12.5.3); whoever says nothing gets the text as it is. */
export const takesGzip = (ctx: Context): boolean => ctx.acceptsEncodings('gzip', 'identity') === 'gzip';

const compress = promisify(gzip);

/** Compresses beside the event loop, as fast as gzip can: of a list that leaves a seventh already. */
export const gzipOf = (json: string): Promise<Buffer> => compress(json, { level: constants.Z_BEST_SPEED });
