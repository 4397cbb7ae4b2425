import type { Access as Person } from '../../../api/operations.generated.ts';
import { Avatar } from '../../../design/avatar.tsx';
import { Button } from '../../../design/button.tsx';
import { EndlessList } from '../../../design/endless-list.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import * as later from '../../../text/files-later.ts';
import { t } from '../../../text/files.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useObserved } from '../../use-observed.ts';
import { usePages } from '../../use-pages.ts';
import { extensions } from '../entry-actions.ts';
import type { Entry } from '../entry.ts';

const PAGE = 200;

/** Who may do what with an entry, and why. Only those may see it who may share it. */
export function Access({ entry }: { readonly entry: Entry }) {
  const client = useClient();
  const share = useObserved(extensions.actions).find(({ id }) => id === 'share');
  const people = usePages(
    (cursor, signal) => {
      const options = { path: { id: entry.id }, query: { limit: PAGE, cursor }, signal };
      return entry.type === 'folder' ? client.get('/folders/{id}/access', options) : client.get('/files/{id}/access', options);
    },
    [entry.id],
  );
  const { items, problem, isMore, isLoading, more, reload } = people;
  if (problem?.status === 403) return <p class="files-quiet">{t('accessNone')}</p>;
  if (!items && problem) return <ProblemNote problem={problem} onRetry={reload} />;
  if (!items) return <Skeleton label={t('loading')} />;
  return (
    <>
      {share && (
        <p class="files-access-share">
          <Button size="s" icon="share" onClick={() => share.run(entry, reload)}>
            {share.label()}
          </Button>
        </p>
      )}
      <EndlessList
        isMore={isMore}
        isLoading={isLoading}
        hasFailed={problem !== undefined}
        moreLabel={t('loadMore')}
        onMore={more}
      >
        <ul role="list" class="files-people">
          {items.map(({ user, level, because }) => (
            <li key={user.id} class="files-person">
              <Avatar name={user.name} />
              <span>
                <span class="files-person-name">{user.name}</span>
                <span class="files-quiet">{[levelInWords(level), ...because.map(reasonInWords)].join(' · ')}</span>
              </span>
            </li>
          ))}
        </ul>
      </EndlessList>
      {isMore && <p class="files-quiet">{later.count('peopleLoaded', items.length)}</p>}
      {problem && <ProblemNote problem={problem} onRetry={more} />}
    </>
  );
}

function levelInWords(level: Person['level']): string {
  if (level === 'admin') return t('levelAdmin');
  return level === 'write' ? t('levelWrite') : t('levelRead');
}

function reasonInWords({ via, group, folder }: Person['because'][number]): string {
  if (via === 'owner') return t('becauseOwner');
  if (via === 'group') return t('becauseGroup', { name: group?.name ?? '' });
  return via === 'folder' ? t('becauseFolder', { name: folder?.name ?? '' }) : t('becauseGrant');
}
