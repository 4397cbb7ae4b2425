import { z } from 'zod';

/** Identifiers exposed externally are UUID strings (specification: Resources). Any case is taken, lower case is given. */
export const Uuid = z.uuid().toLowerCase().describe('UUID');
export type Uuid = string;

/** ISO 8601, UTC. */
export const Timestamp = z.iso.datetime().describe('ISO 8601 time in UTC');

/** An unsigned integer that JSON can carry exactly (design: integers above 2^53−1 are a 400). */
export const Bytes = z.int().min(0).describe('bytes');

/** An unsigned 64-bit identifier as a decimal string. */
export const DecimalId = z.string().regex(/^\d{1,20}$/);
