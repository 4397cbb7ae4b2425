import type { Webhook } from '../../../api/operations.generated.ts';
import { Badge, type Tone } from '../../../design/badge.tsx';
import { type Key, t } from '../../../text/webhooks.ts';

/** How a webhook's receiver does, in one word. */
export function Health({ webhook }: { readonly webhook: Webhook }) {
  const [key, tone] = healthOf(webhook);
  return <Badge tone={tone}>{t(key)}</Badge>;
}

function healthOf({ active, disabled_reason, failing_since, last_delivery_at }: Webhook): readonly [Key, Tone] {
  if (!active) return disabled_reason === null ? ['health.off', 'neutral'] : ['health.disabled', 'danger'];
  if (failing_since !== null) return ['health.failing', 'danger'];
  return last_delivery_at === null ? ['health.new', 'info'] : ['health.ok', 'success'];
}
