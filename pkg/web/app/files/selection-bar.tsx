import { Button } from '../../design/button.tsx';
import { IconButton } from '../../design/icon-button.tsx';
import { count, t } from '../../text/files.ts';
import { take } from './clipboard.ts';
import { TagMenu } from './details/tag-menu.tsx';
import type { Entry } from './entry.ts';
import type { Meant } from './meant.ts';
import type { FileActions } from './use-file-actions.tsx';

interface Props {
  /** The name of the list. */
  readonly list: string;
  /** What is selected. */
  readonly chosen: Meant;
  readonly actions: FileActions;
  readonly isTrash: boolean;
  /** The reader's role lets them change files at all. */
  readonly mayWrite: boolean;
  /** They may change all that is selected. */
  readonly mayChange: boolean;
  readonly onClear: () => void;
}

/** What can be done with all that is selected, where it is seen while anything is. */
export function SelectionBar({ list, chosen, actions, isTrash, mayWrite, mayChange, onClear }: Props) {
  const withChosen = (action: (entries: readonly Entry[]) => unknown) => (): void => chosen.withAll(action);
  return (
    <div class="files-selection" role="toolbar" aria-label={t('selection')}>
      <IconButton icon="close" label={t('clearSelection')} onClick={onClear} />
      <p class="files-selection-count">{chosen.count === undefined ? t('allSelected') : count('selected', chosen.count)}</p>
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
          <IconButton icon="download" label={t('download')} onClick={withChosen((entries) => actions.download(entries, list))} />
          {mayChange && (
            <IconButton
              icon="move"
              label={t('move')}
              onClick={withChosen((entries) => actions.askDestination('move', entries))}
            />
          )}
          {mayWrite && (
            <IconButton
              icon="copy"
              label={t('copy')}
              onClick={withChosen((entries) => actions.askDestination('copy', entries))}
            />
          )}
          {mayChange && <IconButton icon="cut" label={t('cut')} onClick={withChosen((entries) => take('cut', entries))} />}
          <TagMenu onChoose={(tag) => withChosen((entries) => actions.setTag(entries, tag.id, true))()} />
          <TagMenu isRemoval onChoose={(tag) => withChosen((entries) => actions.setTag(entries, tag.id, false))()} />
          {mayChange && <IconButton icon="trash" label={t('delete')} onClick={withChosen(actions.trash)} />}
        </>
      )}
    </div>
  );
}
