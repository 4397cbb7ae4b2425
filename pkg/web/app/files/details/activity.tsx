import type { AuditEntry } from '../../../api/operations.generated.ts';
import { Avatar } from '../../../design/avatar.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { t } from '../../../text/files.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';
import type { Entry } from '../entry.ts';

const SHOWN = 50;

/** What was done with an entry, the last first, from the audit log: for those who may read it. */
export function Activity({ entry }: { readonly entry: Entry }) {
  const client = useClient();
  const { value, problem, reload } = useLoaded(
    (signal) => client.get('/audit', { query: { target_type: entry.type, target_id: entry.id, limit: SHOWN }, signal }),
    [entry.id, entry.etag],
  );
  if (problem) return <ProblemNote problem={problem} onRetry={reload} />;
  if (!value) return <Skeleton label={t('loading')} />;
  if (value.data.length === 0) return <p class="files-quiet">{t('activityNone')}</p>;
  return (
    <ol role="list" class="files-people">
      {value.data.map((event) => (
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
};

function actionInWords({ action, changes }: AuditEntry): string {
  const name = changes['name']?.to;
  if (action.endsWith('.update') && typeof name === 'string') return t('didRename', { name });
  return WORDS[action]?.() ?? action;
}
