import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import type { Group } from '../../../api/operations.generated.ts';
import { Badge } from '../../../design/badge.tsx';
import { Button } from '../../../design/button.tsx';
import { EmptyState } from '../../../design/empty-state.tsx';
import { EndlessList } from '../../../design/endless-list.tsx';
import { Icon } from '../../../design/icon.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Select } from '../../../design/select.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { count, t } from '../../../text/groups.ts';
import { useClient, useMay } from '../../services.ts';
import { usePages } from '../../use-pages.ts';
import { useSettled } from '../../use-settled.ts';
import { AdminPage } from '../admin-page.tsx';
import { PageProblem } from '../page-problem.tsx';
import { GroupDialog } from './group-dialog.tsx';
import './groups.css';

/** The groups of the tenant: those that people made, and those of courses. */
export function GroupsPage() {
  const client = useClient();
  const { route } = useLocation();
  const mayChange = useMay('write:groups');
  const [query, setQuery] = useState('');
  const [kind, setKind] = useState<'' | Group['kind']>('');
  const [isAdding, setAdding] = useState(false);
  const asked = useSettled(query.trim());
  const groups = usePages(
    (cursor, signal) =>
      client.get('/groups', {
        query: { limit: 50, sort: 'name', cursor, q: asked || undefined, kind: kind || undefined },
        signal,
      }),
    [asked, kind],
  );
  const addButton = mayChange && (
    <Button kind="primary" icon="add" onClick={() => setAdding(true)}>
      {t('add')}
    </Button>
  );
  const isNarrowed = asked !== '' || kind !== '';
  return (
    <AdminPage title={t('title')} action={addButton}>
      <p class="admin-quiet">{t('text')}</p>
      <div class="admin-filters">
        <TextField
          label={t('search')}
          type="search"
          icon="search"
          isLabelHidden
          placeholder={t('search')}
          value={query}
          onValue={setQuery}
        />
        <Select
          label={t('kind')}
          isLabelHidden
          value={kind}
          onValue={setKind}
          options={[
            { value: '', label: t('kindAny') },
            { value: 'manual', label: t('kindManual') },
            { value: 'course', label: t('kindCourse') },
          ]}
        />
      </div>
      {groups.problem && <PageProblem problem={groups.problem} onRetry={groups.more} />}
      {!groups.items && !groups.problem && <Skeleton kind="rows" label={t('loading')} />}
      {groups.items?.length === 0 && (
        <div role="status">
          {isNarrowed ? (
            <p>{t('noneFound')}</p>
          ) : (
            <EmptyState drawing="shared" title={t('none')}>
              {t('noneText')}
            </EmptyState>
          )}
        </div>
      )}
      {groups.items && groups.items.length > 0 && (
        <EndlessList
          isMore={groups.isMore}
          isLoading={groups.isLoading}
          hasFailed={groups.problem !== undefined}
          moreLabel={t('more')}
          onMore={groups.more}
        >
          <ul role="list" class="groups">
            {groups.items.map((group) => (
              <GroupLine key={group.id} group={group} />
            ))}
          </ul>
        </EndlessList>
      )}
      {isAdding && <GroupDialog onClose={() => setAdding(false)} onSaved={({ id }) => route(`/admin/groups/${id}`)} />}
    </AdminPage>
  );
}

const GroupLine = ({ group }: { readonly group: Group }) => (
  <li>
    <a class="group-line" href={`/admin/groups/${group.id}`}>
      <span class="group-sign">
        <Icon name={group.kind === 'course' ? 'course' : 'people'} />
      </span>
      <span class="group-name">
        <span>
          {group.name} {group.kind === 'course' && <Badge>{t('course')}</Badge>}
        </span>
        {group.description !== null && <span class="admin-quiet">{group.description}</span>}
      </span>
      <span class="group-count">{count('members', group.member_count)}</span>
      <span class="group-changed admin-quiet">
        {t('changed')} <DateTime value={group.updated_at} />
      </span>
      <Icon name="chevron-right" size="s" />
    </a>
  </li>
);
