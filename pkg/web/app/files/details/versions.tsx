import { useState } from 'preact/hooks';
import type { Version } from '../../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../../api/problem.ts';
import { Badge } from '../../../design/badge.tsx';
import { Button } from '../../../design/button.tsx';
import { DateTime, FileSize } from '../../../design/measures.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { toasts } from '../../../design/toast.tsx';
import { t } from '../../../text/files.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';
import { type Entry, isReadOnly } from '../entry.ts';
import { saveVersion } from '../save-file.ts';

/** The versions of a file, the newest first. A former one is restored as a new one: nothing is lost. */
export function Versions({ entry, onChange }: { readonly entry: Entry; readonly onChange: () => void }) {
  const client = useClient();
  const [failure, setFailure] = useState<ApiProblem>();
  const [busy, setBusy] = useState<number>();
  const { value, problem, reload } = useLoaded(
    (signal) => client.get('/files/{id}/versions', { path: { id: entry.id }, query: { limit: 200 }, signal }),
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
  if (problem) return <ProblemNote problem={problem} onRetry={reload} />;
  if (!value) return <Skeleton label={t('loading')} />;
  const versions: readonly Version[] = value.data.toSorted((a, b) => b.version_number - a.version_number);
  return (
    <>
      {failure && <ProblemNote problem={failure} />}
      <ol role="list" class="files-versions">
        {versions.map(({ version_number: number, created_at: at, created_by: by, size, comment }, index) => (
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
    </>
  );
}
