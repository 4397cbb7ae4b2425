import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import type { Webhook } from '../../../api/operations.generated.ts';
import { Badge } from '../../../design/badge.tsx';
import { Button } from '../../../design/button.tsx';
import { EmptyState } from '../../../design/empty-state.tsx';
import { EndlessList } from '../../../design/endless-list.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { t } from '../../../text/webhooks.ts';
import { useClient, useMay } from '../../services.ts';
import { usePages } from '../../use-pages.ts';
import { AdminPage } from '../admin-page.tsx';
import { PageProblem } from '../page-problem.tsx';
import { Health } from './health.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';
import './webhooks.css';

/** The webhooks of the tenant, and how their receivers do. */
export function WebhooksPage() {
  const client = useClient();
  const { route } = useLocation();
  const mayChange = useMay('write:webhooks');
  const [isAdding, setAdding] = useState(false);
  const [made, setMade] = useState<{ readonly id: string; readonly secret: string }>();
  const list = usePages((cursor, signal) => client.get('/webhooks', { query: { limit: 50, cursor }, signal }), []);
  const add = mayChange && (
    <Button kind="primary" icon="add" onClick={() => setAdding(true)}>
      {t('add')}
    </Button>
  );
  return (
    <AdminPage title={t('title')} action={add}>
      {list.problem && <PageProblem problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton kind="rows" label={t('loading')} />}
      {list.items?.length === 0 && (
        <EmptyState drawing="shared" title={t('none')}>
          {t('noneText')}
        </EmptyState>
      )}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <ul role="list" class="webhooks-list">
            {list.items.map((webhook) => (
              <Row key={webhook.id} webhook={webhook} />
            ))}
          </ul>
        </EndlessList>
      )}
      {isAdding && (
        <WebhookDialog
          onClose={() => setAdding(false)}
          onMade={(webhook) => {
            setAdding(false);
            setMade(webhook);
          }}
        />
      )}
      {made && <SecretDialog secret={made.secret} onClose={() => route(`/admin/webhooks/${made.id}`)} />}
    </AdminPage>
  );
}

function Row({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, description, events, managed_by, last_delivery_at, last_status_code } = webhook;
  return (
    <li class="webhooks-row">
      <div class="webhooks-what">
        <a class="webhooks-url" href={`/admin/webhooks/${id}`}>
          {url}
        </a>
        {description !== null && description !== '' && <p class="admin-quiet">{description}</p>}
        <p class="webhooks-events">
          {events.map((event) => (
            <code key={event}>{event}</code>
          ))}
        </p>
      </div>
      <div class="webhooks-state">
        <span class="webhooks-badges">
          {managed_by !== null && <Badge icon="lock">{t('managed')}</Badge>}
          <Health webhook={webhook} />
        </span>
        {last_delivery_at !== null && (
          <span class="admin-quiet">
            {last_status_code ?? t('noAnswer')}, <DateTime value={last_delivery_at} />
          </span>
        )}
      </div>
    </li>
  );
}
