import { Button } from '../../design/button.tsx';
import { countOf, type Selection } from '../../design/grid/selection.ts';
import { IconButton } from '../../design/icon-button.tsx';
import { count, t } from '../../text/files.ts';
import { failureToast } from '../failure-toast.ts';
import { clip } from './clipboard.ts';
import type { Entry } from './entry.ts';
import { TagMenu } from './details/tag-menu.tsx';
import type { FileActions } from './use-file-actions.tsx';

interface Props {
  readonly selection: Selection;
  readonly total: number | undefined;
  readonly actions: FileActions;
  readonly isTrash: boolean;
  readonly onClear: () => void;
}

/** What can be done with all that is selected, where it is seen while anything is. */
export function SelectionBar({ selection, total, actions, isTrash, onClear }: Props) {
  const number = countOf(selection, total);
  const withChosen = (action: (entries: readonly Entry[]) => unknown) => (): void =>
    void actions.chosen(selection).then(action, (error: unknown) => failureToast(error));
  const one = selection.kind === 'some' && selection.ids.size === 1;
  return (
    <div class="files-selection" role="toolbar" aria-label={t('selection')}>
      <IconButton icon="close" label={t('clearSelection')} onClick={onClear} />
      <p class="files-selection-count">{number === undefined ? t('allSelected') : count('selected', number)}</p>
      {isTrash ? (
        <>
          <Button kind="quiet" icon="restore" onClick={withChosen(actions.restore)}>
            {t('restore')}
          </Button>
          <Button kind="quiet" icon="trash" onClick={withChosen(actions.purge)}>
            {t('purge')}
          </Button>
        </>
      ) : (
        <>
          {one && (
            <IconButton
              icon="download"
              label={t('download')}
              onClick={withChosen(([entry]) => entry && actions.download(entry))}
            />
          )}
          <IconButton icon="move" label={t('move')} onClick={withChosen((entries) => actions.askDestination('move', entries))} />
          <IconButton icon="copy" label={t('copy')} onClick={withChosen((entries) => actions.askDestination('copy', entries))} />
          <IconButton icon="cut" label={t('cut')} onClick={withChosen((entries) => clip.set({ kind: 'cut', entries }))} />
          <TagMenu onChoose={(tag) => withChosen((entries) => actions.setTag(entries, tag.id, true))()} />
          <IconButton icon="trash" label={t('delete')} onClick={withChosen(actions.trash)} />
        </>
      )}
    </div>
  );
}
