import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Entry, FolderEntry } from './api.ts';
import type { Context, CourseApi } from './course-api.ts';
import { FolderPath } from './folders.tsx';
import { type Failed, useLoaded, usePages } from './loaded.ts';
import type { Refusal } from './messages.ts';
import { RefusalNote } from './notes.tsx';
import { t } from '../text/text.ts';

/** Of a page: each row asks whether the course has it. */
const ROWS = 10;

interface Props {
  readonly api: CourseApi;
  readonly courseId: string;
  readonly failed: Failed;
}

/** An instructor's own files and folders, to let everybody in the course read them, and to take that back. Nothing is asked until it is opened. */
export function Share(props: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-labelledby="share-heading" class="share-in-course">
      <h2 id="share-heading">{t('share.heading')}</h2>
      <p>
        <button type="button" aria-expanded={isOpen} aria-controls="share-list" onClick={() => setOpen(!isOpen)}>
          {isOpen ? t('share.close') : t('share.open')}
        </button>
      </p>
      <div id="share-list">{isOpen && <OwnEntries {...props} />}</div>
    </section>
  );
}

function OwnEntries({ api, courseId, failed }: Props) {
  const [path, setPath] = useState<readonly Pick<FolderEntry, 'id' | 'name'>[]>([]);
  const heading = useRef<HTMLHeadingElement>(null);
  const folderId = path.at(-1)?.id ?? null;
  const askContext = useCallback(() => api.context(courseId), [api, courseId]);
  const { loaded: context, refusal: unknown, retry } = useLoaded(askContext, failed);
  const ask = useCallback((cursor?: string) => api.children(folderId, cursor, ROWS), [api, folderId]);
  const { items, isMore, isBusy, refusal, next } = usePages(ask, failed, 0);
  const go = (to: typeof path): void => {
    // The pressed button disappears with the list that it was in.
    heading.current?.focus();
    setPath(to);
  };

  if (unknown) return <RefusalNote refusal={unknown} onRetry={retry} />;
  return (
    <>
      <h3 ref={heading} tabIndex={-1}>
        {path.at(-1)?.name ?? t('myFiles')}
      </h3>
      {path.length > 0 && <FolderPath names={[t('myFiles'), ...path.map(({ name }) => name)]} onGo={(depth) => go(path.slice(0, depth))} />}
      <p role="status">{!items || !context ? t('loading') : items.length === 0 ? t('noFiles') : ''}</p>
      {context && items && items.length > 0 && (
        <ul aria-label={t('myFiles')}>
          {items.map((entry) => (
            <ShareRow
              key={entry.id}
              api={api}
              entry={entry}
              context={context}
              failed={failed}
              onOpen={({ id, name }) => go([...path, { id, name }])}
            />
          ))}
        </ul>
      )}
      {refusal && <RefusalNote refusal={refusal} onRetry={next} />}
      {isMore && !refusal && (
        <button type="button" disabled={isBusy} onClick={next}>
          {t('showMore')}
        </button>
      )}
    </>
  );
}

interface RowProps {
  readonly api: CourseApi;
  readonly entry: Entry;
  readonly context: Context;
  readonly failed: Failed;
  readonly onOpen: (folder: FolderEntry) => void;
}

function ShareRow({ api, entry, context: { group_id: groupId }, failed, onOpen }: RowProps) {
  /** Null: the course has none; undefined: not known yet. */
  const [grant, setGrant] = useState<string | null>();
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();

  const change = useCallback(
    async (to: () => Promise<string | null>): Promise<void> => {
      setBusy(true);
      setRefusal(undefined);
      try {
        setGrant(await to());
      } catch (error) {
        setRefusal(failed(error));
      }
      setBusy(false);
    },
    [failed],
  );
  useEffect(() => void change(() => api.grantTo(entry, groupId)), [api, change, entry, groupId]);
  const isShared = typeof grant === 'string';
  const toggle = (): Promise<void> => change(() => (isShared ? api.takeBack(entry, grant).then(() => null) : api.share(entry, groupId)));

  return (
    <li>
      <span class="name">{entry.name}</span>
      {entry.type === 'folder' && <span class="facts">{t('folder')}</span>}
      <span role="status">{isShared ? t('share.shared') : ''}</span>
      {entry.type === 'folder' && (
        <button type="button" aria-label={t('share.openFolder', { name: entry.name })} onClick={() => onOpen(entry)}>
          {t('open')}
        </button>
      )}
      {grant !== undefined && (
        <button
          type="button"
          aria-label={t(isShared ? 'share.takeBackOf' : 'share.giveOf', { name: entry.name })}
          aria-disabled={isBusy}
          onClick={() => void (isBusy || toggle())}
        >
          {t(isShared ? 'share.takeBack' : 'share.give')}
        </button>
      )}
      {refusal && (
        <RefusalNote
          refusal={refusal}
          {...(grant === undefined ? { onRetry: () => void change(() => api.grantTo(entry, groupId)) } : {})}
        />
      )}
    </li>
  );
}
