import { z } from 'zod';

/** Identifiers exposed externally are UUID strings (specification: Resources). Any case is taken, lower case is given. */
export const Uuid = z.uuid().toLowerCase().describe('UUID');
export type Uuid = string;

/** ISO 8601, UTC. */
export const Timestamp = z.iso.datetime().describe('ISO 8601 time in UTC');

const YEAR_1 = Date.parse('0001-01-01T00:00:00Z');
const YEAR_10000 = Date.parse('+010000-01-01T00:00:00Z');
const isWritable = (text: string): boolean => Date.parse(text) >= YEAR_1 && Date.parse(text) < YEAR_10000;

/**
 * A time that a client names, with any offset; given in UTC and milliseconds, so that database, cursors and replies read it alike:
 * PostgreSQL knows no year 0 and no offset past 15:59, ISO 8601 no year of five digits.
 */
export const NamedTime = z.iso
  .datetime({ offset: true })
  .refine(isWritable, 'must lie in the years 1 to 9999')
  .overwrite((text) => (isWritable(text) ? new Date(text).toISOString() : text));

/** An unsigned integer that JSON can carry exactly (design: integers above 2^53−1 are a 400). */
export const Bytes = z.int().min(0).describe('bytes');

/** An unsigned 64-bit identifier as a decimal string. */
export const DecimalId = z.string().regex(/^\d{1,20}$/);
