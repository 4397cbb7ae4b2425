import { useEffect, useRef, useState } from 'preact/hooks';
import type { Delivery, Webhook } from '../../../api/operations.generated.ts';
import { Button } from '../../../design/button.tsx';
import { EndlessList } from '../../../design/endless-list.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Select } from '../../../design/select.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { inDigits } from '../../../text/language.ts';
import { t } from '../../../text/webhooks.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useNewest } from '../../use-newest.ts';
import { usePages } from '../../use-pages.ts';
import { DeliveryDrawer } from './delivery-drawer.tsx';
import { DeliveryState } from './delivery-state.tsx';
import { ReplayDialog } from './replay-dialog.tsx';

type Status = Delivery['status'];
const STATES: readonly Status[] = ['pending', 'delivered', 'failed', 'canceled'];
/** So often new deliveries are looked for: while one waits, and while none does. */
const LOOK_MS = { active: 2_000, idle: 15_000 } as const;
const PAGE = 50;

interface Props {
  readonly webhook: Webhook;
  readonly mayChange: boolean;
  /** Another number: look for new deliveries now. */
  readonly turn: number;
  /** Something was sent, or answered. */
  readonly onNews: () => void;
}

/** What was sent to a webhook in the last 30 days, the newest first. */
export function Deliveries({ webhook, mayChange, turn, onNews }: Props) {
  const client = useClient();
  const [status, setStatus] = useState<Status | ''>('');
  const [event, setEvent] = useState<Delivery['event'] | ''>('');
  const [opened, setOpened] = useState<string>();
  const [isReplaying, setReplaying] = useState(false);
  const load = (cursor: string | undefined, signal: AbortSignal, known: string | undefined) => {
    const query = { limit: PAGE, cursor, status: status || undefined, event: event || undefined };
    return client.getPage('/webhooks/{id}/deliveries', { path: { id: webhook.id }, query, signal }, known);
  };
  const of = [webhook.id, status, event];
  const list = usePages(load, of);
  const isWaiting = list.items?.some((delivery) => delivery.status === 'pending') ?? false;
  const ms = isWaiting ? LOOK_MS.active : LOOK_MS.idle;
  const look = useNewest(list, (signal, known) => load(undefined, signal, known), ms, of);
  const shown = useRef<string>(undefined);
  const now = list.items?.map((delivery) => `${delivery.id} ${delivery.status} ${delivery.attempts.length}`).join();
  useEffect(() => {
    if (shown.current !== undefined && now !== undefined) onNews();
    shown.current = now;
  }, [now]);
  useEffect(() => {
    if (turn > 0) look();
  }, [turn]);
  return (
    <section class="webhooks-section" aria-labelledby="webhooks-deliveries">
      <header class="webhooks-section-head">
        <h2 id="webhooks-deliveries">{t('deliveries')}</h2>
        <div class="webhooks-tools">
          <Select
            label={t('state')}
            isLabelHidden
            value={status}
            onValue={setStatus}
            options={[{ value: '', label: t('status.all') }, ...STATES.map((value) => ({ value, label: t(`status.${value}`) }))]}
          />
          <Select
            label={t('event')}
            isLabelHidden
            value={event}
            onValue={setEvent}
            options={[{ value: '', label: t('allEvents') }, ...webhook.events.map((value) => ({ value, label: value }))]}
          />
          {mayChange && (
            <Button icon="refresh" onClick={() => setReplaying(true)}>
              {t('replayMany')}
            </Button>
          )}
        </div>
      </header>
      {list.problem && <ProblemNote problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton kind="rows" label={t('loading')} />}
      {list.items?.length === 0 && <p role="status">{t('deliveriesNone')}</p>}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <div class="admin-scroll" role="group" aria-labelledby="webhooks-deliveries" tabIndex={0}>
            <table class="admin-table" aria-labelledby="webhooks-deliveries">
              <thead>
                <tr>
                  <th scope="col">{t('event')}</th>
                  <th scope="col">{t('state')}</th>
                  <th scope="col">{t('attempts')}</th>
                  <th scope="col">{t('time')}</th>
                </tr>
              </thead>
              <tbody>
                {list.items.map((delivery) => (
                  <tr key={delivery.id}>
                    <th scope="row">
                      <button type="button" class="webhooks-open" aria-haspopup="dialog" onClick={() => setOpened(delivery.id)}>
                        {delivery.event}
                      </button>
                    </th>
                    <td>
                      <DeliveryState status={delivery.status} />
                    </td>
                    <td class="webhooks-attempts">
                      {inDigits(delivery.attempts.length)}
                      <span class="admin-quiet"> {lastAnswer(delivery)}</span>
                    </td>
                    <td>
                      <DateTime value={delivery.created_at} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </EndlessList>
      )}
      {opened !== undefined && (
        <DeliveryDrawer
          webhookId={webhook.id}
          id={opened}
          mayChange={mayChange}
          onClose={() => setOpened(undefined)}
          onReplayed={() => {
            setOpened(undefined);
            look();
          }}
        />
      )}
      {isReplaying && <ReplayDialog webhook={webhook} onClose={() => setReplaying(false)} />}
    </section>
  );
}

function lastAnswer({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  if (!last) return '';
  return last.status_code === null ? t('noAnswer') : String(last.status_code);
}
