import { useLocation, useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import type { Usage, User } from '../../../api/operations.generated.ts';
import { Avatar } from '../../../design/avatar.tsx';
import { Badge } from '../../../design/badge.tsx';
import { Button } from '../../../design/button.tsx';
import { IconButton } from '../../../design/icon-button.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Menu } from '../../../design/menu.tsx';
import { Progress } from '../../../design/progress.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { t as admin } from '../../../text/admin.ts';
import { count, t } from '../../../text/person.ts';
import { useClient, useMay, useMe } from '../../services.ts';
import { sizeInWords } from '../../size-in-words.ts';
import { useLoaded } from '../../use-loaded.ts';
import { AdminPage } from '../admin-page.tsx';
import { BackLink } from '../../back-link.tsx';
import { PageProblem } from '../page-problem.tsx';
import { nameOf } from '../person-name.ts';
import { usePersonActions } from './person-actions.tsx';
import { PersonActivity, PersonGroups } from './person-parts.tsx';
import './person.css';

/** One person: who they are, what they store, and what an administrator can do. */
export function PersonPage() {
  const client = useClient();
  const { route } = useLocation();
  const id = useRoute().params['id'] ?? '';
  const mayChange = useMay('write:users');
  const loaded = useLoaded((signal) => client.get('/users/{id}', { path: { id }, signal }), [id]);
  const [changed, setChanged] = useState<User>();
  const user = changed?.id === id ? changed : loaded.value;
  const { itemsOf, open, dialog } = usePersonActions({ onChanged: setChanged, onDeleted: () => route('/admin/people') });
  const name = user ? nameOf(user) : admin('people.title');
  return (
    <AdminPage
      title={name}
      back={<BackLink href="/admin/people">{t('back')}</BackLink>}
      action={
        user &&
        mayChange && (
          <span class="person-tools">
            <Button icon="edit" onClick={() => open('edit', user)}>
              {t('edit')}
            </Button>
            <Menu
              label={t('actions')}
              align="end"
              items={itemsOf(user)}
              trigger={(props) => <IconButton icon="more" label={t('actions')} {...props} />}
            />
          </span>
        )
      }
    >
      {loaded.problem && <PageProblem problem={loaded.problem} onRetry={loaded.reload} />}
      {!user && !loaded.problem && <Skeleton kind="rows" label={t('loading')} />}
      {user && (
        <div class="person-parts">
          <About user={user} />
          <Storage key={user.etag} user={user} />
          <PersonGroups key={`${id} groups`} user={user} />
          <PersonActivity key={`${id} activity`} user={user} />
        </div>
      )}
      {dialog}
    </AdminPage>
  );
}

function About({ user }: { readonly user: User }) {
  const me = useMe();
  return (
    <section class="person-part" aria-labelledby="person-about">
      <h2 id="person-about">{t('about')}</h2>
      <div class="person-head">
        <Avatar name={nameOf(user)} size="l" />
        <div>
          <p class="person-name">{nameOf(user)}</p>
          <p class="admin-roles">
            {user.roles.map((role) => (
              <Badge key={role} tone={role === 'admin' ? 'accent' : 'neutral'}>
                {admin(`role.${role}`)}
              </Badge>
            ))}
            {!user.is_active && <Badge tone="warning">{admin('people.inactive')}</Badge>}
            {user.id === me.user.id && <Badge tone="info">{t('you')}</Badge>}
          </p>
        </div>
      </div>
      <dl class="person-facts">
        <dt>{t('email')}</dt>
        <dd>{user.email}</dd>
        {user.contact_email !== null && (
          <>
            <dt>{t('contact')}</dt>
            <dd>{user.contact_email}</dd>
          </>
        )}
        <dt>{t('username')}</dt>
        <dd>{user.username}</dd>
        <dt>{t('since')}</dt>
        <dd>
          <DateTime value={user.created_at} />
        </dd>
        <dt>{t('changed')}</dt>
        <dd>
          <DateTime value={user.updated_at} />
        </dd>
      </dl>
    </section>
  );
}

function Storage({ user }: { readonly user: User }) {
  const client = useClient();
  const path = { id: user.id };
  const { value: usage, problem, reload } = useLoaded((signal) => client.get('/users/{id}/usage', { path, signal }), [user.id]);
  return (
    <section class="person-part" aria-labelledby="person-storage">
      <h2 id="person-storage">{t('storage')}</h2>
      {problem && <PageProblem problem={problem} onRetry={reload} />}
      {!usage && !problem && <Skeleton label={t('loading')} />}
      {usage && <Uses usage={usage} />}
    </section>
  );
}

function Uses({ usage }: { readonly usage: Usage }) {
  const { storage_used: used, storage_quota: quota } = usage;
  const inWords = t('ofQuota', { used: sizeInWords(used), quota: sizeInWords(quota) });
  const parts = [
    [t('versions'), usage.versions_bytes],
    [t('trash'), usage.trash_bytes],
    [t('metadata'), usage.metadata_bytes],
  ] as const;
  return (
    <>
      <p class="person-used">{inWords}</p>
      <Progress value={Math.min(used, quota)} max={Math.max(quota, 1)} />
      <p>
        {count('files', usage.files)}
        {usage.trashed_files > 0 && ` ${t('andTrashed', { count: usage.trashed_files })}`}
      </p>
      {parts.some(([, bytes]) => bytes > 0) && (
        <dl class="person-facts">
          {parts.flatMap(([label, bytes]) =>
            bytes === 0 ? [] : [<dt key={label}>{label}</dt>, <dd key={`${label} size`}>{sizeInWords(bytes)}</dd>],
          )}
        </dl>
      )}
    </>
  );
}
