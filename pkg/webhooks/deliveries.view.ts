import type { DeliveryView } from './deliveries.schema.ts';
import type { DeliveryRow } from './deliveries.sql.ts';

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
