import { useCallback, useState } from 'preact/hooks';
import type { FolderEntry } from './api.ts';
import type { CourseApi } from './course-api.ts';
import { FileList, FileRow } from './file-list.tsx';
import { FolderPath, FolderRow } from './folders.tsx';
import { type Failed, usePages } from './loaded.ts';
import { More } from './paged-list.tsx';
import { t } from '../../text/lti.ts';

interface Props {
  readonly api: CourseApi;
  /** The course's own folder, which the page shows anyway. */
  readonly exceptId: string | undefined;
  readonly failed: Failed;
}

/**
 * Entries that others have granted to the person or to one of their courses, except the folder of this course. Hidden while there
 * are none.
 */
export function SharedWithMe({ api, exceptId, failed }: Props) {
  const [path, setPath] = useState<readonly Pick<FolderEntry, 'id' | 'name'>[]>([]);
  const ask = useCallback((cursor?: string) => api.sharedWithMe(cursor), [api]);
  const list = usePages(ask, failed, 0);
  const shared = (list.items ?? []).filter(({ id }) => id !== exceptId);
  const here = path.at(-1);
  if (shared.length === 0) return null;

  return (
    <section aria-labelledby="shared-heading">
      <h2 id="shared-heading">{t('share.withYou')}</h2>
      {here ? (
        <>
          <FolderPath
            names={[t('share.withYou'), ...path.map(({ name }) => name)]}
            onGo={(depth) => setPath(path.slice(0, depth))}
          />
          <FileList
            key={here.id}
            api={api}
            folderId={here.id}
            failed={failed}
            changes={0}
            onOpen={(folder) => setPath([...path, folder])}
          />
        </>
      ) : (
        <ul class="files" aria-label={t('share.withYou')}>
          {shared.map((entry) =>
            entry.type === 'folder' ? (
              <FolderRow key={entry.id} folder={entry} onOpen={(folder) => setPath([folder])} />
            ) : (
              <FileRow key={entry.id} file={entry} api={api} failed={failed} />
            ),
          )}
        </ul>
      )}
      {!here && <More list={list} text={t('share.more')} />}
    </section>
  );
}
