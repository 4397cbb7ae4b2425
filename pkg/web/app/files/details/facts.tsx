import { Tag } from '../../../design/badge.tsx';
import { Avatar } from '../../../design/avatar.tsx';
import { DateTime, FileSize } from '../../../design/measures.tsx';
import { t } from '../../../text/files.ts';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';
import { type Entry, isReadOnly } from '../entry.ts';
import { searchAddress } from '../search-address.ts';
import type { FileActions } from '../use-file-actions.tsx';
import { Attributes } from './attributes.tsx';
import { TagMenu } from './tag-menu.tsx';

interface Props {
  readonly entry: Entry;
  readonly actions: FileActions;
  /** A link leads to another list; what lies on that goes. */
  readonly onLeave?: (() => void) | undefined;
}

/** What an entry is, where it is, and its tags. */
export function Facts({ entry, actions, onLeave }: Props) {
  const { type, owner, path, size, mimeType, time, sender } = entry;
  return (
    <>
      <dl class="files-facts-list">
        <dt>{t('kind')}</dt>
        <dd>{type === 'folder' ? t('folder') : (mimeType ?? t('unknownType'))}</dd>
        {size !== null && (
          <>
            <dt>{t('size')}</dt>
            <dd>
              <FileSize bytes={size} />
            </dd>
          </>
        )}
        <dt>{t('location')}</dt>
        <dd>{path}</dd>
        <dt>{t('owner')}</dt>
        <dd class="files-person">
          <Avatar name={owner.name} size="s" />
          {owner.name}
        </dd>
        {sender && (
          <>
            <dt>{t('sentBy')}</dt>
            <dd>{sender}</dd>
          </>
        )}
        <dt>{t('changed')}</dt>
        <dd>
          <DateTime value={time} isFull />
        </dd>
      </dl>
      {type === 'file' && (
        <>
          <Tags entry={entry} actions={actions} onLeave={onLeave} />
          <Attributes id={entry.id} isFixed={isReadOnly(entry)} />
        </>
      )}
    </>
  );
}

function Tags({ entry, actions, onLeave }: Props) {
  const client = useClient();
  const { value, reload } = useLoaded(
    (signal) => client.get('/files/{id}/tags', { path: { id: entry.id }, query: { sort: 'name', limit: 200 }, signal }),
    [entry.id],
  );
  const set = (id: string, isSet: boolean): void => void actions.setTag([entry], id, isSet, reload);
  return (
    <section class="files-section" aria-label={t('tags')}>
      <h3>{t('tags')}</h3>
      <div class="files-tags">
        {value?.data.map(({ id, name, color }) => (
          <Tag
            key={id}
            href={searchAddress({ tag: id })}
            colour={color}
            linkHint={t('withTag', { name })}
            onFollow={onLeave}
            removeLabel={t('removeTag', { name })}
            onRemove={() => set(id, false)}
          >
            {name}
          </Tag>
        ))}
        <TagMenu label={t('addTag')} onChoose={({ id }) => set(id, true)} />
      </div>
    </section>
  );
}
