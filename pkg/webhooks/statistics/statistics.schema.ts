import { z } from 'zod';
import { Timestamp } from '../../api/schemas.ts';

const Milliseconds = (share: string) =>
  z
    .int()
    .nullable()
    .meta({
      description: `${share} of the answers took at most this many milliseconds, known to within 20 %; null: no answers`,
      example: 42,
    });

const Counted = z.object({
  sent: z.int().meta({ description: 'attempts', example: 120 }),
  failed: z.int().meta({ description: 'attempts without a 2xx answer', example: 2 }),
  p50_ms: Milliseconds('half'),
  p95_ms: Milliseconds('95 %'),
});

export const WebhookStatistics = z
  .object({
    last_24_hours: Counted.describe('the current hour and the 23 before it'),
    last_7_days: Counted.describe('the current hour and the 167 before it'),
    hours: z
      .array(Counted.extend({ hour: Timestamp.describe('the beginning of the hour') }))
      .describe('hours with attempts, newest first'),
  })
  .meta({ id: 'WebhookStatistics' });
export type WebhookStatistics = z.output<typeof WebhookStatistics>;
