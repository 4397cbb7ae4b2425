import type { AuditEntry } from '../../../api/operations.generated.ts';
import { Avatar } from '../../../design/avatar.tsx';
import { EndlessList } from '../../../design/endless-list.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import * as later from '../../../text/files-later.ts';
import { t } from '../../../text/files.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { usePages } from '../../use-pages.ts';
import type { Entry } from '../entry.ts';

const PAGE = 50;

/** What was done with an entry, its grants and its links, the last first, from the audit log: for those who may read it. */
export function Activity({ entry }: { readonly entry: Entry }) {
  const client = useClient();
  const { items, problem, isMore, isLoading, more, reload } = usePages(
    (cursor, signal) => client.get('/audit', { query: { resource: entry.id, limit: PAGE, cursor }, signal }),
    [entry.id, entry.etag],
  );
  if (!items && problem) return <ProblemNote problem={problem} onRetry={reload} />;
  if (!items) return <Skeleton label={t('loading')} />;
  if (items.length === 0) return <p class="files-quiet">{t('activityNone')}</p>;
  return (
    <>
      <EndlessList
        isMore={isMore}
        isLoading={isLoading}
        hasFailed={problem !== undefined}
        moreLabel={t('loadMore')}
        onMore={more}
      >
        <ol role="list" class="files-people">
          {items.map((event) => (
            <li key={event.id} class="files-person">
              <Avatar name={actorOf(event)} />
              <span>
                <span>
                  <span class="files-person-name">{actorOf(event)}</span> {actionInWords(event)}
                </span>
                <span class="files-quiet">
                  <DateTime value={event.at} />
                </span>
              </span>
            </li>
          ))}
        </ol>
      </EndlessList>
      {problem && <ProblemNote problem={problem} onRetry={more} />}
    </>
  );
}

function actorOf({ actor }: AuditEntry): string {
  if (!actor) return t('somebody');
  return 'system' in actor ? 'Carrel' : actor.name;
}

const WORDS: Readonly<Record<string, () => string>> = {
  'file.upload': () => t('didUpload'),
  'folder.create': () => t('didCreate'),
  'file.update': () => t('didChange'),
  'folder.update': () => t('didChange'),
  'file.delete': () => t('didDelete'),
  'folder.delete': () => t('didDelete'),
  'file.restore': () => t('didRestore'),
  'folder.restore': () => t('didRestore'),
  'version.delete': () => t('didDeleteVersion'),
  'grant.create': () => later.t('didGiveAccess'),
  'grant.update': () => later.t('didChangeAccess'),
  'grant.delete': () => later.t('didTakeAccess'),
  'share.create': () => later.t('didMakeLink'),
  'share.update': () => later.t('didChangeLink'),
  'share.delete': () => later.t('didDeleteLink'),
  'share.download': () => later.t('didDownloadByLink'),
};

function actionInWords({ action, changes }: AuditEntry): string {
  const name = changes['name']?.to;
  if (action.endsWith('.update') && typeof name === 'string') return t('didRename', { name });
  return WORDS[action]?.() ?? action;
}
