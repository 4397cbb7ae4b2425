import { useCallback } from 'preact/hooks';
import type { Api } from './api.ts';
import { FileActions } from './file-list.tsx';
import { type Failed, useLoaded } from './loaded.ts';
import { RefusalNote } from './notes.tsx';
import { t } from '../../text/lti.ts';

/** The one file that a link was placed for. */
export function PlacedFile({ api, id, failed }: { api: Api; id: string; failed: Failed }) {
  const ask = useCallback(() => api.file(id), [api, id]);
  const { loaded: file, refusal, retry } = useLoaded(ask, failed);

  if (refusal) return <RefusalNote refusal={refusal} onRetry={retry} />;
  if (!file) return <p role="status">{t('loading')}</p>;
  return (
    <div class="placed">
      <FileActions file={file} api={api} failed={failed} />
    </div>
  );
}
