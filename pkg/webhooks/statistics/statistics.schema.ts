import { z } from 'zod';
import { Timestamp } from '../../api/schemas.ts';

const Milliseconds = (share: string) =>
  z
    .int()
    .nullable()
    .meta({
      description: `${share} of the answers took at most so many milliseconds, known to within 20 %; null: there was none`,
      example: 42,
    });

const Counted = z.object({
  sent: z.int().meta({ description: 'attempts', example: 120 }),
  failed: z.int().meta({ description: 'attempts that were not answered by 2xx', example: 2 }),
  p50_ms: Milliseconds('half'),
  p95_ms: Milliseconds('95 %'),
});

export const WebhookStatistics = z
  .object({
    last_24_hours: Counted.describe('the hour that runs and the 23 before it'),
    last_7_days: Counted.describe('the hour that runs and the 167 before it'),
    hours: z
      .array(Counted.extend({ hour: Timestamp.describe('its beginning') }))
      .describe('those in which something was sent, the newest first'),
  })
  .meta({ id: 'WebhookStatistics' });
export type WebhookStatistics = z.output<typeof WebhookStatistics>;
