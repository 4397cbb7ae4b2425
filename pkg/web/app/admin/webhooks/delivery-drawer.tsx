import { useState } from 'preact/hooks';
import { newId } from '../../../api/new-id.ts';
import type { DeliveryWithPayload } from '../../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../../api/problem.ts';
import { Button } from '../../../design/button.tsx';
import { Drawer } from '../../../design/drawer.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { toasts } from '../../../design/toasts.ts';
import { t } from '../../../text/webhooks.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';
import { DeliveryState } from './delivery-state.tsx';

interface Props {
  readonly webhookId: string;
  readonly id: string;
  readonly mayChange: boolean;
  readonly onClose: () => void;
  readonly onReplayed: () => void;
}

/** One delivery: each attempt with its answer, and what is sent. */
export function DeliveryDrawer({ webhookId, id, mayChange, onClose, onReplayed }: Props) {
  const client = useClient();
  const path = { id: webhookId, delivery: id };
  const { value, problem, reload } = useLoaded(
    (signal) => client.get('/webhooks/{id}/deliveries/{delivery}', { path, signal }),
    [webhookId, id],
  );
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiProblem>();
  const replay = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      await client.post('/webhooks/{id}/deliveries/{delivery}/replay', { path, idempotencyKey: newId() });
      toasts.show({ text: t('replayed') });
      onReplayed();
    } catch (error) {
      setFailure(problemOf(error));
    }
    setBusy(false);
  };
  const title = t('delivery', { event: value?.event ?? '…' });
  return (
    <Drawer label={title} closeLabel={t('close')} side="end" onClose={onClose}>
      <div class="webhooks-delivery">
        <h2>{title}</h2>
        {problem && <ProblemNote problem={problem} onRetry={reload} />}
        {!value && !problem && <Skeleton label={t('loading')} />}
        {value && (
          <>
            <DeliveryFacts delivery={value} />
            {failure && <ProblemNote problem={failure} />}
            {mayChange && value.status !== 'pending' && (
              <Button icon="refresh" isBusy={isBusy} onClick={() => void replay()}>
                {t('replay')}
              </Button>
            )}
            <h3>{t('attempts')}</h3>
            <Attempts delivery={value} />
            <p class="admin-quiet">{t('answerBody')}</p>
            <h3>{t('payload')}</h3>
            <p class="admin-quiet">{t('payloadBytes')}</p>
            <pre class="webhooks-payload" tabIndex={0} aria-label={t('payload')} role="region">
              {laidOut(value.payload)}
            </pre>
          </>
        )}
      </div>
    </Drawer>
  );
}

const DeliveryFacts = ({ delivery }: { readonly delivery: DeliveryWithPayload }) => (
  <dl class="webhooks-facts">
    <dt>{t('state')}</dt>
    <dd>
      <DeliveryState status={delivery.status} />
    </dd>
    <dt>{t('time')}</dt>
    <dd>
      <DateTime value={delivery.created_at} isFull />
    </dd>
    {delivery.next_attempt_at !== null && (
      <>
        <dt>{t('next')}</dt>
        <dd>
          <DateTime value={delivery.next_attempt_at} />
        </dd>
      </>
    )}
    <dt>{t('message')}</dt>
    <dd>
      <code>{delivery.message_id}</code>
    </dd>
  </dl>
);

const Attempts = ({ delivery: { attempts } }: { readonly delivery: DeliveryWithPayload }) =>
  attempts.length === 0 ? (
    <p>–</p>
  ) : (
    <ol role="list" class="webhooks-tries">
      {attempts.map(({ at, status_code, error }) => (
        <li key={at} class="webhooks-try">
          <span class="webhooks-try-head">
            {status_code === null ? t('noAnswer') : t('answer', { status: String(status_code) })}
            <span class="admin-quiet">
              <DateTime value={at} />
            </span>
          </span>
          {error !== null && <span class="admin-quiet">{error}</span>}
        </li>
      ))}
    </ol>
  );

function laidOut(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
}
