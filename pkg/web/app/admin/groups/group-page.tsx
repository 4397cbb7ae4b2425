import { useLocation, useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import type { Group } from '../../../api/operations.generated.ts';
import { Notice } from '../../../design/badge.tsx';
import { Button } from '../../../design/button.tsx';
import { Confirm } from '../../../design/confirm.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { toasts } from '../../../design/toasts.ts';
import { t } from '../../../text/groups.ts';
import { failureToast } from '../../failure-toast.ts';
import { useClient, useMay } from '../../services.ts';
import { Snapshot } from '../../snapshot.tsx';
import { useLoaded } from '../../use-loaded.ts';
import { AdminPage } from '../admin-page.tsx';
import { BackLink } from '../../back-link.tsx';
import { PageProblem } from '../page-problem.tsx';
import { GroupAccess } from './group-access.tsx';
import { GroupDialog } from './group-dialog.tsx';
import { Members } from './members.tsx';
import './groups.css';

/** One group: who is in it, and what is shared with it. */
export function GroupPage() {
  const client = useClient();
  const id = useRoute().params['id'] ?? '';
  const { value: group, problem, reload } = useLoaded((signal) => client.get('/groups/{id}', { path: { id }, signal }), [id]);
  const mayChange = useMay('write:groups') && group?.managed_by === null;
  return (
    <AdminPage
      title={group?.name ?? t('title')}
      back={<BackLink href="/admin/groups">{t('back')}</BackLink>}
      action={group && mayChange && <Actions group={group} onChanged={reload} />}
    >
      {problem && <PageProblem problem={problem} onRetry={reload} />}
      {!group && !problem && <Skeleton kind="rows" label={t('loading')} />}
      {group && (
        <>
          {group.description !== null && <p class="group-description">{group.description}</p>}
          {group.managed_by !== null && <Notice title={t('managed')}>{t('managedText')}</Notice>}
          <Members key={id} group={group} mayChange={mayChange} onChanged={reload} />
          <GroupAccess key={`${id} access`} group={group} />
        </>
      )}
    </AdminPage>
  );
}

function Actions({ group, onChanged }: { readonly group: Group; readonly onChanged: () => void }) {
  const client = useClient();
  const { route } = useLocation();
  const [shown, setShown] = useState<'edit' | 'delete'>();
  const remove = async (): Promise<void> => {
    try {
      await client.delete('/groups/{id}', { path: { id: group.id } });
      toasts.show({ text: t('deleted', { name: group.name }), tone: 'success' });
      route('/admin/groups');
    } catch (error) {
      failureToast(error);
      setShown(undefined);
    }
  };
  return (
    <span class="group-actions">
      <Button icon="edit" onClick={() => setShown('edit')}>
        {t('edit')}
      </Button>
      <Button icon="trash" onClick={() => setShown('delete')}>
        {t('delete')}
      </Button>
      {shown === 'edit' && (
        <Snapshot of={group} load={() => client.get('/groups/{id}', { path: { id: group.id } })} onStale={onChanged}>
          {(snapshot) => (
            <GroupDialog
              group={snapshot}
              onClose={() => setShown(undefined)}
              onSaved={() => {
                setShown(undefined);
                onChanged();
              }}
            />
          )}
        </Snapshot>
      )}
      {shown === 'delete' && (
        <Confirm
          title={t('deleteTitle', { name: group.name })}
          confirmLabel={t('delete')}
          cancelLabel={t('cancel')}
          isDanger
          onConfirm={remove}
          onCancel={() => setShown(undefined)}
        >
          {t('deleteText')}
        </Confirm>
      )}
    </span>
  );
}
