import { useState } from 'preact/hooks';
import type { LtiRegistration } from '../../api/operations.generated.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { EndlessList } from '../../design/endless-list.tsx';
import { DateTime } from '../../design/measures.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { t } from '../../text/admin.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient, useMay } from '../services.ts';
import { usePages } from '../use-pages.ts';
import { AdminPage } from './admin-page.tsx';
import { kubectlEdit } from './kubectl-line.ts';
import { Kubectl } from './kubectl.tsx';
import { ConnectLmsDialog } from './connect-lms-dialog.tsx';
import './lms-page.css';

/** The LMSs that may launch, and a one-time address by which another one registers itself. */
export function LmsPage() {
  const client = useClient();
  const mayChange = useMay('write:registrations');
  const [isConnecting, setConnecting] = useState(false);
  const list = usePages((cursor, signal) => client.get('/lti/registrations', { query: { limit: 50, cursor }, signal }), []);
  return (
    <AdminPage
      title={t('lms.title')}
      action={
        mayChange && (
          <Button kind="primary" icon="add" onClick={() => setConnecting(true)}>
            {t('lms.connect')}
          </Button>
        )
      }
    >
      {list.problem && <ProblemNote problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton kind="rows" label={t('loading')} />}
      {list.items?.length === 0 && <p role="status">{t('lms.none')}</p>}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <ul role="list" class="lms-list">
            {list.items.map((registration) => (
              <Registration key={registration.id} registration={registration} />
            ))}
          </ul>
        </EndlessList>
      )}
      {isConnecting && (
        <ConnectLmsDialog
          onClose={() => {
            setConnecting(false);
            list.reload();
          }}
        />
      )}
    </AdminPage>
  );
}

function Registration({ registration }: { readonly registration: LtiRegistration }) {
  const { id, name, platform_name, issuer, client_id, is_active, registered, waiting_deployments, managed_ref } = registration;
  return (
    <li class="lms">
      <h2>
        <a class="lms-name" href={`/admin/lms/${id}`}>
          {platform_name ?? name}
        </a>
      </h2>
      <p class="lms-states">
        <Badge tone={is_active ? 'success' : 'warning'}>{is_active ? t('lms.active') : t('lms.inactive')}</Badge>
        {registered?.pending && <Badge tone="info">{t('lms.pending')}</Badge>}
        {waiting_deployments > 0 && <Badge tone="warning">{t('lms.waiting', { count: waiting_deployments })}</Badge>}
        {managed_ref !== null && <Badge>{t('lms.managed')}</Badge>}
      </p>
      <dl>
        <dt>{t('lms.issuer')}</dt>
        <dd>{issuer}</dd>
        <dt>{t('lms.client')}</dt>
        <dd>{client_id}</dd>
        {registered && (
          <>
            <dt>{t('lms.registered')}</dt>
            <dd>
              <DateTime value={registered.at} />
            </dd>
          </>
        )}
        {managed_ref !== null && (
          <>
            <dt>{t('lms.change')}</dt>
            <dd>
              <Kubectl line={kubectlEdit('ltiregistration', managed_ref)} />
            </dd>
          </>
        )}
      </dl>
    </li>
  );
}
