import type { Access as Person } from '../../../api/operations.generated.ts';
import { Avatar } from '../../../design/avatar.tsx';
import { Button } from '../../../design/button.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { t } from '../../../text/files.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';
import { useObserved } from '../../use-observed.ts';
import { extensions } from '../entry-actions.ts';
import type { Entry } from '../entry.ts';

/** Who may do what with an entry, and why. Only those may see it who may share it. */
export function Access({ entry }: { readonly entry: Entry }) {
  const client = useClient();
  const share = useObserved(extensions.actions).find(({ id }) => id === 'share');
  const { value, problem, reload } = useLoaded(
    (signal) => {
      const options = { path: { id: entry.id }, query: { limit: 200 }, signal };
      return entry.type === 'folder' ? client.get('/folders/{id}/access', options) : client.get('/files/{id}/access', options);
    },
    [entry.id],
  );
  if (problem?.status === 403) return <p class="files-quiet">{t('accessNone')}</p>;
  if (problem) return <ProblemNote problem={problem} onRetry={reload} />;
  if (!value) return <Skeleton label={t('loading')} />;
  return (
    <>
      {share && (
        <p class="files-access-share">
          <Button size="s" icon="share" onClick={() => share.run(entry, reload)}>
            {share.label()}
          </Button>
        </p>
      )}
      <ul role="list" class="files-people">
        {value.data.map(({ user, level, because }) => (
          <li key={user.id} class="files-person">
            <Avatar name={user.name} />
            <span>
              <span class="files-person-name">{user.name}</span>
              <span class="files-quiet">{[levelInWords(level), ...because.map(reasonInWords)].join(' · ')}</span>
            </span>
          </li>
        ))}
      </ul>
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
