import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Api, FileItem } from './api.ts';
import { FileRow } from './file-list.tsx';
import type { Refusal } from './messages.ts';
import { RefusalNote } from './notes.tsx';

/** The one file that a link was placed for. */
export function PlacedFile({ api, id, failed }: { api: Api; id: string; failed: (error: unknown) => Refusal }) {
  const [file, setFile] = useState<FileItem>();
  const [refusal, setRefusal] = useState<Refusal>();
  const load = useCallback(() => {
    setRefusal(undefined);
    api.file(id).then(setFile, (error: unknown) => setRefusal(failed(error)));
  }, [api, id, failed]);
  useEffect(load, [load]);

  if (refusal) return <RefusalNote refusal={refusal} onRetry={load} />;
  if (!file) return <p role="status">Loading …</p>;
  return (
    <ul class="files" aria-label="File of this link">
      <FileRow file={file} api={api} failed={failed} />
    </ul>
  );
}
