import type { Delivery } from '../../../api/operations.generated.ts';
import { Badge, type Tone } from '../../../design/badge.tsx';
import { t } from '../../../text/webhooks.ts';

type Status = Delivery['status'];

const TONES: Readonly<Record<Status, Tone>> = {
  pending: 'accent',
  delivered: 'success',
  failed: 'danger',
  canceled: 'warning',
};
/** Whether something has arrived. */
export const DeliveryState = ({ status }: { readonly status: Status }) => (
  <Badge tone={TONES[status]}>{t(`status.${status}`)}</Badge>
);
