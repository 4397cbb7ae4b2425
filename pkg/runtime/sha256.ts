import { createHash } from 'node:crypto';

/** Hex, 64 characters. */
export const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex');
