import { Dialog } from '../../design/dialog.tsx';
import { FileSize } from '../../design/measures.tsx';
import { Spinner } from '../../design/progress.tsx';
import { count, t } from '../../text/files.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import { useLoaded } from '../use-loaded.ts';
import './storage-dialog.css';

/** What fills somebody's storage, and where they can make space. */
export function StorageDialog({ onClose }: { readonly onClose: () => void }) {
  const client = useClient();
  const { value, problem, reload } = useLoaded((signal) => client.get('/users/me/usage', { signal }), []);
  return (
    <Dialog title={t('storage')} closeLabel={t('close')} size="s" onClose={onClose}>
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {!value && !problem && <Spinner label={t('loading')} />}
      {value && <Uses usage={value} onClose={onClose} />}
    </Dialog>
  );
}

interface Usage {
  readonly storage_quota: number;
  readonly storage_used: number;
  readonly files: number;
  readonly versions_bytes: number;
  readonly trash_bytes: number;
  readonly metadata_bytes: number;
}

function Uses({ usage, onClose }: { readonly usage: Usage; readonly onClose: () => void }) {
  const {
    storage_quota: quota,
    storage_used: used,
    versions_bytes: versions,
    trash_bytes: trash,
    metadata_bytes: metadata,
  } = usage;
  const files = Math.max(0, used - versions - trash - metadata);
  const rows = [
    { series: 1, label: count('storageFiles', usage.files), bytes: files },
    { series: 2, label: t('storageVersions'), bytes: versions },
    { series: 3, label: t('trash'), bytes: trash },
    { series: 4, label: t('attributes'), bytes: metadata },
    { series: 0, label: t('storageFree'), bytes: Math.max(0, quota - used) },
  ];
  return (
    <>
      <div class="storage-bar" aria-hidden="true">
        {rows.map(
          ({ series, bytes }) =>
            series > 0 &&
            bytes > 0 && (
              <span
                key={series}
                class={`storage-piece c-series-${series}`}
                style={{ inlineSize: `${(100 * bytes) / Math.max(quota, used, 1)}%` }}
              />
            ),
        )}
      </div>
      <dl class="storage-uses">
        {rows.map(({ series, label, bytes }) => (
          <div key={series} class={`storage-use c-series-${series}`}>
            <dt>{label}</dt>
            <dd>
              <FileSize bytes={bytes} />
            </dd>
          </div>
        ))}
      </dl>
      {trash > 0 && (
        <p>
          <a href="/trash" onClick={onClose}>
            {t('storageTrash')}
          </a>
        </p>
      )}
    </>
  );
}
