import { useState } from 'preact/hooks';
import type { User } from '../../api/operations.generated.ts';
import { problemOf } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { EndlessList } from '../../design/endless-list.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { TextField } from '../../design/text-field.tsx';
import { toasts } from '../../design/toasts.ts';
import { t } from '../../text/admin.ts';
import { ProblemNote } from '../problem-note.tsx';
import { problemText } from '../problem-text.ts';
import { useClient, useMay } from '../services.ts';
import { usePages } from '../use-pages.ts';
import { useSettled } from '../use-settled.ts';
import { AdminPage } from './admin-page.tsx';
import { NewPersonDialog } from './new-person-dialog.tsx';
import { PasswordLinkDialog } from './password-link-dialog.tsx';
import { PersonRow } from './person-row.tsx';
import { RolesDialog } from './roles-dialog.tsx';

type Shown = { readonly dialog: 'new' } | { readonly dialog: 'roles' | 'password'; readonly user: User };

/** The people of the tenant: who they are, what they may do, and how they get in. */
export function PeoplePage() {
  const client = useClient();
  const mayChange = useMay('write:users');
  const [query, setQuery] = useState('');
  const asked = useSettled(query.trim());
  const [shown, setShown] = useState<Shown>();
  const people = usePages(
    (cursor, signal) => client.get('/users', { query: { limit: 50, sort: 'email', cursor, q: asked || undefined }, signal }),
    [asked],
  );
  const put = (user: User): void => people.change((all) => all.map((one) => (one.id === user.id ? user : one)));
  const setActive = async (user: User, is_active: boolean): Promise<void> => {
    try {
      put(await client.patch('/users/{id}', { path: { id: user.id }, body: { is_active }, ifMatch: user.etag }));
    } catch (error) {
      toasts.show({ text: problemText(problemOf(error)), tone: 'danger' });
    }
  };

  return (
    <AdminPage
      title={t('people.title')}
      action={
        mayChange && (
          <Button kind="primary" icon="add" onClick={() => setShown({ dialog: 'new' })}>
            {t('people.add')}
          </Button>
        )
      }
    >
      <TextField
        label={t('people.search')}
        class="admin-search"
        type="search"
        icon="search"
        isLabelHidden
        placeholder={t('people.search')}
        value={query}
        onValue={setQuery}
      />
      {people.problem && <ProblemNote problem={people.problem} onRetry={people.more} />}
      {!people.items && !people.problem && <Skeleton kind="rows" label={t('loading')} />}
      {people.items?.length === 0 && <p role="status">{t('people.none')}</p>}
      {people.items && people.items.length > 0 && (
        <EndlessList
          isMore={people.isMore}
          isLoading={people.isLoading}
          hasFailed={people.problem !== undefined}
          moreLabel={t('more')}
          onMore={people.more}
        >
          <div class="admin-scroll" role="region" aria-label={t('people.title')} tabIndex={0}>
            <table class="admin-table">
              <thead>
                <tr>
                  <th scope="col">{t('people.name')}</th>
                  <th scope="col">{t('people.roles')}</th>
                  <th scope="col">{t('people.storage')}</th>
                  <th scope="col">
                    <span class="c-hidden">{t('people.actions')}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {people.items.map((user) => (
                  <PersonRow
                    key={user.id}
                    user={user}
                    mayChange={mayChange}
                    onPassword={() => setShown({ dialog: 'password', user })}
                    onRoles={() => setShown({ dialog: 'roles', user })}
                    onActive={(isActive) => void setActive(user, isActive)}
                  />
                ))}
              </tbody>
            </table>
          </div>
        </EndlessList>
      )}
      {shown?.dialog === 'new' && (
        <NewPersonDialog
          onClose={() => setShown(undefined)}
          onMade={(user) => {
            people.change((all) => [user, ...all]);
            setShown({ dialog: 'password', user });
          }}
        />
      )}
      {shown?.dialog === 'roles' && (
        <RolesDialog
          user={shown.user}
          onClose={() => setShown(undefined)}
          onChanged={(user) => {
            put(user);
            setShown(undefined);
          }}
        />
      )}
      {shown?.dialog === 'password' && <PasswordLinkDialog user={shown.user} onClose={() => setShown(undefined)} />}
    </AdminPage>
  );
}
