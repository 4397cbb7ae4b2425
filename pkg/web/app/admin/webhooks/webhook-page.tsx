import { useLocation, useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import type { Webhook } from '../../../api/operations.generated.ts';
import { Notice } from '../../../design/badge.tsx';
import { Button } from '../../../design/button.tsx';
import { IconButton } from '../../../design/icon-button.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Menu } from '../../../design/menu.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { toasts } from '../../../design/toasts.ts';
import { t } from '../../../text/webhooks.ts';
import { failureToast } from '../../failure-toast.ts';
import { useClient, useMay } from '../../services.ts';
import { Snapshot } from '../../snapshot.tsx';
import { useLoaded } from '../../use-loaded.ts';
import { AdminPage } from '../admin-page.tsx';
import { BackLink } from '../../back-link.tsx';
import { ManagedNote } from '../managed-note.tsx';
import { PageProblem } from '../page-problem.tsx';
import { Deliveries } from './deliveries.tsx';
import { Health } from './health.tsx';
import { RemoveDialog, RotateDialog } from './secret-and-end.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { Statistics } from './statistics.tsx';
import { TestDialog } from './test-dialog.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';
import './webhooks.css';

type Shown = 'edit' | 'rotate' | 'remove' | 'test';

/** One webhook: how its receiver does, and what was delivered to it. */
export function WebhookPage() {
  const { id = '' } = useRoute().params;
  const client = useClient();
  const { value, problem, reload } = useLoaded((signal) => client.get('/webhooks/{id}', { path: { id }, signal }), [id]);
  if (value) return <Loaded webhook={value} onChange={reload} />;
  return (
    <AdminPage title={t('title')} back={<BackLink href="/admin/webhooks">{t('back')}</BackLink>}>
      {problem ? <PageProblem problem={problem} onRetry={reload} /> : <Skeleton label={t('loading')} />}
    </AdminPage>
  );
}

function Loaded({ webhook, onChange }: { readonly webhook: Webhook; readonly onChange: () => void }) {
  const client = useClient();
  const { route } = useLocation();
  const mayChange = useMay('write:webhooks');
  const [shown, setShown] = useState<Shown>();
  const [secret, setSecret] = useState<string>();
  /** Counts the changes after which deliveries are to be looked at again. */
  const [turn, setTurn] = useState(0);
  /** Counts what was seen to be sent or answered: health and numbers are then others. */
  const [news, setNews] = useState(0);
  const isManaged = webhook.managed_by !== null;
  const close = (): void => setShown(undefined);
  const setActive = async (active: boolean): Promise<void> => {
    try {
      await client.patch('/webhooks/{id}', { path: { id: webhook.id }, body: { active }, ifMatch: webhook.etag });
      onChange();
    } catch (error) {
      failureToast(error, onChange);
    }
  };
  const tools = mayChange && (
    <span class="webhooks-tools">
      <Button icon="play" onClick={() => setShown('test')}>
        {t('test')}
      </Button>
      {!isManaged && (
        <>
          <Button icon="edit" onClick={() => setShown('edit')}>
            {t('edit')}
          </Button>
          <Menu
            label={t('actions')}
            align="end"
            items={[
              webhook.active
                ? { label: t('deactivate'), icon: 'pause', onSelect: () => void setActive(false) }
                : { label: t('activate'), icon: 'play', onSelect: () => void setActive(true) },
              { label: t('rotate'), icon: 'key', onSelect: () => setShown('rotate') },
              'separator',
              { label: t('remove'), icon: 'trash', isDanger: true, onSelect: () => setShown('remove') },
            ]}
            trigger={(props) => <IconButton icon="more" label={t('actions')} {...props} />}
          />
        </>
      )}
    </span>
  );
  return (
    <AdminPage
      title={webhook.description || webhook.url.replace(/^https?:\/\//, '')}
      back={<BackLink href="/admin/webhooks">{t('back')}</BackLink>}
      action={tools}
    >
      {isManaged && (
        <ManagedNote kind="webhook" reference={webhook.managed_ref}>
          {t('managedText')}
        </ManagedNote>
      )}
      {webhook.disabled_reason !== null && (
        <Notice
          tone="danger"
          actions={mayChange && !isManaged && <Button onClick={() => void setActive(true)}>{t('activate')}</Button>}
        >
          {t('disabledText', { reason: webhook.disabled_reason })}
        </Notice>
      )}
      <Facts webhook={webhook} />
      <Statistics id={webhook.id} turn={news} />
      <Deliveries
        webhook={webhook}
        mayChange={mayChange}
        turn={turn}
        onNews={() => {
          setNews((last) => last + 1);
          onChange();
        }}
      />
      {shown && (
        <Snapshot of={webhook} load={() => client.get('/webhooks/{id}', { path: { id: webhook.id } })} onStale={onChange}>
          {(snapshot) => (
            <>
              {shown === 'edit' && (
                <WebhookDialog
                  webhook={snapshot}
                  onClose={close}
                  onChanged={() => {
                    close();
                    toasts.show({ text: t('saved'), tone: 'success' });
                    onChange();
                  }}
                />
              )}
              {shown === 'rotate' && (
                <RotateDialog
                  webhook={snapshot}
                  onClose={close}
                  onRotated={(made) => {
                    close();
                    setSecret(made);
                    onChange();
                  }}
                />
              )}
              {shown === 'remove' && (
                <RemoveDialog webhook={snapshot} onClose={close} onRemoved={() => route('/admin/webhooks')} />
              )}
            </>
          )}
        </Snapshot>
      )}
      {shown === 'test' && (
        <TestDialog
          webhook={webhook}
          onClose={close}
          onSent={() => {
            close();
            setTurn((last) => last + 1);
          }}
        />
      )}
      {secret !== undefined && <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </AdminPage>
  );
}

function Facts({ webhook }: { readonly webhook: Webhook }) {
  const { url, events, failing_since, previous_secret_until } = webhook;
  return (
    <dl class="webhooks-facts">
      <dt>{t('url')}</dt>
      <dd>
        <code>{url}</code>
      </dd>
      <dt>{t('state')}</dt>
      <dd>
        <Health webhook={webhook} />
      </dd>
      {failing_since !== null && (
        <>
          <dt>{t('failingSince')}</dt>
          <dd>
            <DateTime value={failing_since} />
          </dd>
        </>
      )}
      <dt>{t('events')}</dt>
      <dd class="webhooks-events">
        {events.map((event) => (
          <code key={event}>{event}</code>
        ))}
      </dd>
      {previous_secret_until !== null && (
        <>
          <dt>{t('formerUntil')}</dt>
          <dd>
            <DateTime value={previous_secret_until} isFull />
          </dd>
        </>
      )}
    </dl>
  );
}
