import { hash } from 'node:crypto';

/** Hex, 64 characters. */
export const sha256Hex = (text: string): string => hash('sha256', text, 'hex');
