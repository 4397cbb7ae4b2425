import { useState } from 'preact/hooks';
import type { Tag as TagView } from '../../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../../api/problem.ts';
import { Tag } from '../../../design/badge.tsx';
import { Confirm } from '../../../design/confirm.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { IconButton } from '../../../design/icon-button.tsx';
import { announce } from '../../../design/live-region.tsx';
import { Spinner } from '../../../design/progress.tsx';
import { count, t } from '../../../text/files-later.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';
import { searchAddress } from '../search-address.ts';
import { EditTagDialog } from './edit-tag-dialog.tsx';
import './tags-dialog.css';

interface Props {
  readonly onClose: () => void;
  /** Tags were renamed or have other colours. */
  readonly onChange: () => void;
  readonly onDelete: (id: string) => void;
}

/** One's own tags: how many files have each, its name and colour, and its end. */
export function TagsDialog({ onClose, onChange, onDelete }: Props) {
  const client = useClient();
  const [edited, setEdited] = useState<TagView>();
  const [ended, setEnded] = useState<TagView>();
  const [refused, setRefused] = useState<ApiProblem>();
  const { value, problem, reload } = useLoaded(
    (signal) => client.get('/tags', { query: { sort: 'name', limit: 200 }, signal }),
    [],
  );
  const remove = async ({ id, name }: TagView): Promise<void> => {
    try {
      await client.delete('/tags/{id}', { path: { id } });
      announce(t('tagDeleted', { name }));
      setEnded(undefined);
      onDelete(id);
      reload();
    } catch (error) {
      setRefused(problemOf(error));
    }
  };
  return (
    <>
      <Dialog title={t('tagsTitle')} closeLabel={t('close')} size="s" onClose={onClose}>
        {problem && <ProblemNote problem={problem} onRetry={reload} />}
        {!value && !problem && <Spinner label={t('loadingTags')} />}
        {value?.data.length === 0 && <p>{t('noTags')}</p>}
        {value && value.data.length > 0 && (
          <ul role="list" class="files-tag-list">
            {value.data.map((tag) => (
              <li key={tag.id} class="files-tag-row">
                <Tag href={searchAddress({ tag: tag.id })} colour={tag.color} onFollow={onClose}>
                  {tag.name}
                </Tag>
                <span class="files-quiet">{count('tagFiles', tag.files_count)}</span>
                <IconButton icon="edit" size="s" label={t('changeTag', { name: tag.name })} onClick={() => setEdited(tag)} />
                <IconButton
                  icon="trash"
                  size="s"
                  label={t('deleteTag', { name: tag.name })}
                  onClick={() => {
                    setRefused(undefined);
                    setEnded(tag);
                  }}
                />
              </li>
            ))}
          </ul>
        )}
      </Dialog>
      {edited && (
        <EditTagDialog
          tag={edited}
          onClose={() => setEdited(undefined)}
          onDone={() => {
            setEdited(undefined);
            reload();
            onChange();
          }}
        />
      )}
      {ended && (
        <Confirm
          title={t('deleteTagTitle', { name: ended.name })}
          confirmLabel={t('deleteTagConfirm')}
          cancelLabel={t('cancel')}
          isDanger
          onConfirm={() => remove(ended)}
          onCancel={() => setEnded(undefined)}
        >
          <p>{count('deleteTagText', ended.files_count)}</p>
          {refused && <ProblemNote problem={refused} />}
        </Confirm>
      )}
    </>
  );
}
