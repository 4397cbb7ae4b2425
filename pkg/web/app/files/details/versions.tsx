import { useState } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../../../api/problem.ts';
import { Badge } from '../../../design/badge.tsx';
import { Button } from '../../../design/button.tsx';
import { EndlessList } from '../../../design/endless-list.tsx';
import { DateTime, FileSize } from '../../../design/measures.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { toasts } from '../../../design/toast.tsx';
import * as later from '../../../text/files-later.ts';
import { t } from '../../../text/files.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { usePages } from '../../use-pages.ts';
import { type Entry, isReadOnly } from '../entry.ts';
import { saveVersion } from '../save-file.ts';

const PAGE = 200;

/** The versions of a file, the newest first. A former one is restored as a new one: nothing is lost. */
export function Versions({ entry, onChange }: { readonly entry: Entry; readonly onChange: () => void }) {
  const client = useClient();
  const [failure, setFailure] = useState<ApiProblem>();
  const [busy, setBusy] = useState<number>();
  const { items, problem, isMore, isLoading, more, reload } = usePages(
    (cursor, signal) =>
      client.get('/files/{id}/versions', {
        path: { id: entry.id },
        query: { limit: PAGE, sort: '-version_number', cursor },
        signal,
      }),
    [entry.id, entry.etag],
  );
  const failed = (error: unknown): void => setFailure(problemOf(error));
  const restore = (number: number): void => {
    setBusy(number);
    setFailure(undefined);
    client
      .post('/files/{id}/versions/{number}/restore', { path: { id: entry.id, number }, body: {} })
      .then(() => {
        toasts.show({ text: t('versionRestored', { number }), tone: 'success' });
        reload();
        onChange();
      }, failed)
      .finally(() => setBusy(undefined));
  };
  if (!items && problem) return <ProblemNote problem={problem} onRetry={reload} />;
  if (!items) return <Skeleton label={t('loading')} />;
  return (
    <>
      {failure && <ProblemNote problem={failure} />}
      <EndlessList
        isMore={isMore}
        isLoading={isLoading}
        hasFailed={problem !== undefined}
        moreLabel={t('loadMore')}
        onMore={more}
      >
        <ol role="list" class="files-versions">
          {items.map(({ version_number: number, created_at: at, created_by: by, size, comment }, index) => (
            <li key={number} class="files-version">
              <p class="files-version-head">
                <span>{t('version', { number })}</span>
                {index === 0 && <Badge tone="accent">{t('current')}</Badge>}
              </p>
              <p class="files-quiet">
                <DateTime value={at} />, {by.name}, <FileSize bytes={size} />
              </p>
              {comment !== null && comment !== '' && <p>{comment}</p>}
              <p class="files-version-actions">
                <Button size="s" icon="download" onClick={() => void saveVersion(client, entry.id, number).catch(failed)}>
                  {t('download')}
                </Button>
                {index > 0 && !isReadOnly(entry) && (
                  <Button size="s" icon="restore" isBusy={busy === number} onClick={() => restore(number)}>
                    {t('restore')}
                  </Button>
                )}
              </p>
            </li>
          ))}
        </ol>
      </EndlessList>
      {isMore && <p class="files-quiet">{later.count('versionsLoaded', items.length)}</p>}
      {problem && <ProblemNote problem={problem} onRetry={more} />}
    </>
  );
}
