import { type EventName, payloadOf, testData } from '../events/catalogue.ts';

/** Returns the payload of a test: an event of the catalogue, in its exact shape. */
export function testPayload(event: EventName, now: Date): string {
  const timestamp = now.toISOString();
  return payloadOf(event, timestamp, testData(timestamp)[event]);
}
