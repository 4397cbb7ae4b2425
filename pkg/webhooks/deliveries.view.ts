import type { EventName } from '../events/catalogue.ts';
import type { DeliveryState, DeliveryView } from './deliveries.schema.ts';

export interface DeliveryRow {
  readonly id: number;
  readonly uuid: string;
  readonly messageId: string;
  readonly event: EventName;
  readonly state: DeliveryState;
  readonly log: DeliveryView['attempts'];
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly dueAt: Date | null;
}

export const presentDelivery = (row: DeliveryRow): DeliveryView => ({
  id: row.uuid,
  message_id: row.messageId,
  event: row.event,
  status: row.state,
  attempts: row.log,
  created_at: row.createdAt.toISOString(),
  ended_at: row.endedAt?.toISOString() ?? null,
  next_attempt_at: row.dueAt?.toISOString() ?? null,
});
