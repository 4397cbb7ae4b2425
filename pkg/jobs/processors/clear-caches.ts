import { z } from 'zod';
import type { Random } from '../../runtime/random.ts';
import { renewGenerations } from '../../store/redis/generation.ts';
import type { Processor } from '../processor.ts';
import { readPayload } from './payload.ts';

const Payload = z.object({ subjects: z.array(z.string().min(1)).min(1) });

/** Makes generations new that a write could not, since Redis did not answer: nothing cached before is served again. */
export const clearCaches =
  (random: Random): Processor =>
  async ({ payload, redis, keyPrefix }) => {
    const { subjects } = readPayload(Payload, payload);
    await renewGenerations(redis, random, subjects, keyPrefix);
  };
