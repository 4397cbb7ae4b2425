import type { z } from 'zod';
import type { Json } from '../../store/postgres/work.ts';
import { UnprocessableWork } from '../processor.ts';

/** The payload in its form. Throws UnprocessableWork. */
export function readPayload<S extends z.ZodType>(schema: S, payload: Json): z.output<S> {
  const result = schema.safeParse(payload);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new UnprocessableWork(`the payload is not of the form it should have: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
}
