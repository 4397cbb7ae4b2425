import { useCallback, useRef } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import '../../design/checkbox.css';
import { classes } from '../../design/classes.ts';
import { FileIcon } from '../../design/file-icon.tsx';
import type { FileEntry, FolderEntry } from '../entry/api.ts';
import { FolderRow } from '../entry/folders.tsx';
import { type Failed, usePages } from '../entry/loaded.ts';
import { sizeInWords } from '../entry/messages.ts';
import { PagedList } from '../entry/paged-list.tsx';
import type { PickerApi, PickerView, Shown } from './api.ts';
import { type Choice, type Choosable, typesOf } from './choices.ts';
import { timeInWords } from '../../text/language.ts';
import { t } from '../../text/lti.ts';

interface Props {
  readonly api: PickerApi;
  readonly view: PickerView;
  /** The source of one list; it never changes, since another source has another key. */
  readonly shown: Shown;
  /** A change of this value fetches the list again. */
  readonly changes: number;
  readonly choices: readonly Choice[];
  readonly failed: Failed;
  readonly onOpen: (folder: FolderEntry) => void;
  readonly onToggle: (file: Choosable) => void;
  readonly onPreview: (file: FileEntry) => void;
}

/** Folders and files, page by page. */
export function EntryList({ api, view, shown, changes, choices, failed, onOpen, onToggle, onPreview }: Props) {
  const asked = useRef(shown);
  const ask = useCallback((cursor?: string) => api.entries(asked.current, cursor), [api]);
  const list = usePages(ask, failed, changes);

  return (
    <PagedList
      list={list}
      class="entries"
      label={t('picker.list')}
      empty={t('picker.empty')}
      shown={({ length }, isMore) => t(isMore ? 'shownThereAreMore' : 'shown', { what: length })}
      row={(entry) =>
        entry.type === 'folder' ? (
          <FolderRow key={entry.id} folder={entry} onOpen={onOpen} />
        ) : (
          <FileRow key={entry.id} file={entry} view={view} choices={choices} onToggle={onToggle} onPreview={onPreview} />
        )
      }
    />
  );
}

interface RowProps extends Pick<Props, 'view' | 'choices' | 'onToggle' | 'onPreview'> {
  readonly file: FileEntry;
}

function FileRow({ file, view, choices, onToggle, onPreview }: RowProps) {
  const { id, name, size, mime_type, updated_at } = file;
  const reason = refusedBecause(file, view);
  return (
    <li>
      <input
        id={`choice-${id}`}
        type={view.multiple ? 'checkbox' : 'radio'}
        class={classes('c-check-box', !view.multiple && 'c-check-round')}
        name="choice"
        checked={choices.some((choice) => choice.file.id === id)}
        disabled={reason !== undefined}
        aria-describedby={`facts-${id}`}
        onChange={() => onToggle(file)}
      />
      <FileIcon mimeType={mime_type} name={name} />
      <label class="name" for={`choice-${id}`}>
        {name}
      </label>
      <span class="facts" id={`facts-${id}`}>
        {sizeInWords(size)}, <time dateTime={updated_at}>{timeInWords(updated_at)}</time>
        {reason !== undefined && `; ${reason}`}
      </span>
      <Button size="s" kind="quiet" icon="eye" aria-label={t('previewOf', { name })} onClick={() => onPreview(file)}>
        {t('preview')}
      </Button>
    </li>
  );
}

/** Returns why a file cannot be chosen; undefined: it can. */
function refusedBecause(file: FileEntry, view: PickerView): string | undefined {
  if (view.own_only && file.owner.id !== view.user.id) return t('picker.notYours');
  return typesOf(file, view).length === 0 ? t('picker.typeRefused') : undefined;
}
