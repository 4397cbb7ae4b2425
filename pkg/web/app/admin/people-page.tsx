import { useState } from 'preact/hooks';
import type { User } from '../../api/operations.generated.ts';
import { Button } from '../../design/button.tsx';
import { classes } from '../../design/classes.ts';
import { EndlessList } from '../../design/endless-list.tsx';
import { Select } from '../../design/select.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../text/admin.ts';
import { t as person } from '../../text/person.ts';
import { useClient, useMay } from '../services.ts';
import { usePages } from '../use-pages.ts';
import { useSettled } from '../use-settled.ts';
import { AdminPage } from './admin-page.tsx';
import { NewPersonDialog } from './new-person-dialog.tsx';
import { PageProblem } from './page-problem.tsx';
import { usePersonActions } from './people/person-actions.tsx';
import { PersonRow } from './person-row.tsx';
import { type Role, ROLES } from './roles-field.tsx';

type State = '' | 'active' | 'inactive';

/** The people of the tenant: who they are, what they may do, and how they get in. */
export function PeoplePage() {
  const client = useClient();
  const mayChange = useMay('write:users');
  const [query, setQuery] = useState('');
  const [role, setRole] = useState<'' | Role>('');
  const [state, setState] = useState<State>('');
  const [sort, setSort] = useState<'email' | '-created_at' | '-storage_used'>('email');
  const [isAdding, setAdding] = useState(false);
  const asked = useSettled(query.trim());
  const people = usePages(
    (cursor, signal) => {
      const is_active = state === '' ? undefined : state === 'active';
      return client.get('/users', {
        query: { limit: 50, sort, cursor, q: asked || undefined, role: role || undefined, is_active },
        signal,
      });
    },
    [asked, role, state, sort],
  );
  const { itemsOf, open, dialog } = usePersonActions({
    onChanged: (user) => people.change((all) => all.map((one) => (one.id === user.id ? user : one))),
    onDeleted: ({ id }) => people.change((all) => all.filter((one) => one.id !== id)),
  });
  const added = (user: User): void => {
    people.change((all) => [user, ...all]);
    setAdding(false);
    open('password', user);
  };

  return (
    <AdminPage
      title={t('people.title')}
      action={
        mayChange && (
          <Button kind="primary" icon="add" onClick={() => setAdding(true)}>
            {t('people.add')}
          </Button>
        )
      }
    >
      <div class="admin-filters" role="group" aria-label={person('filters')}>
        <TextField
          label={t('people.search')}
          type="search"
          icon="search"
          isLabelHidden
          placeholder={t('people.search')}
          value={query}
          onValue={setQuery}
        />
        <Select
          label={person('role')}
          isLabelHidden
          value={role}
          onValue={setRole}
          options={[{ value: '', label: person('roleAny') }, ...ROLES.map((one) => ({ value: one, label: t(`role.${one}`) }))]}
        />
        <Select
          label={person('state')}
          isLabelHidden
          value={state}
          onValue={setState}
          options={[
            { value: '', label: person('stateAny') },
            { value: 'active', label: person('stateActive') },
            { value: 'inactive', label: person('stateInactive') },
          ]}
        />
        <Select
          label={person('sort')}
          isLabelHidden
          value={sort}
          onValue={setSort}
          options={[
            { value: 'email', label: person('sortEmail') },
            { value: '-created_at', label: person('sortNewest') },
            { value: '-storage_used', label: person('sortStorage') },
          ]}
        />
      </div>
      {people.problem && <PageProblem problem={people.problem} onRetry={people.more} />}
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
            <table
              class={classes('admin-table people-table', sort === '-storage_used' && 'people-by-storage')}
              aria-label={t('people.title')}
            >
              <thead>
                <tr>
                  <th scope="col">{t('people.name')}</th>
                  <th scope="col">{t('people.roles')}</th>
                  <th scope="col">{t('people.storage')}</th>
                  <th scope="col">{person('since')}</th>
                  <th scope="col">
                    <span class="c-hidden">{t('people.actions')}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {people.items.map((user) => (
                  <PersonRow key={user.id} user={user} items={mayChange ? itemsOf(user) : undefined} />
                ))}
              </tbody>
            </table>
          </div>
        </EndlessList>
      )}
      {isAdding && <NewPersonDialog onClose={() => setAdding(false)} onMade={added} />}
      {dialog}
    </AdminPage>
  );
}
