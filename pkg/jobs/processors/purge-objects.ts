import { z } from 'zod';
import type { Processor } from '../processor.ts';
import { readPayload } from './payload.ts';

const Payload = z.object({ keys: z.array(z.string().min(1).max(500)).min(1) });

/** Deletes the objects of rows that are gone. One that is not there is deleted already. */
export const purgeObjects: Processor = async ({ payload, objects }) => {
  const { keys } = readPayload(Payload, payload);
  const bucket = await objects();
  await bucket.delete(keys);
};
