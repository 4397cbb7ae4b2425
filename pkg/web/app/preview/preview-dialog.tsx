import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { FileIcon } from '../../design/file-icon.tsx';
import { IconButton } from '../../design/icon-button.tsx';
import { FileSize } from '../../design/measures.tsx';
import { Spinner } from '../../design/progress.tsx';
import { Status } from '../../design/status.tsx';
import { t } from '../../text/preview.ts';
import { saveFile } from '../files/save-file.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import type { Entry } from '../files/entry.ts';
import { shortcuts } from '../shell/shortcuts.ts';
import { useShortcuts } from '../shell/use-shortcuts.ts';
import { useTitleOver } from '../use-title.ts';
import { ChangeNote } from './change-note.tsx';
import type { PreviewProps } from './preview-props.ts';
import { Shown } from './shown.tsx';
import { useChanges } from './use-changes.ts';
import { usePreviewed } from './use-previewed.ts';
import type { Keys } from './viewer-props.ts';
import './preview.css';

/** One file over the whole window, with the files before and after it. */
export function PreviewDialog({ id, listed, onShow, onClose }: PreviewProps) {
  const client = useClient();
  const { entry: listedEntry, files, problem, reload } = usePreviewed(id, listed);
  /** A version that came while the file was shown, and which the reader chose to see. */
  const [newer, setNewer] = useState<Entry>();
  const entry = newer?.id === id ? newer : listedEntry;
  const { latest, look } = useChanges(entry);
  const name = latest === undefined || latest === 'gone' ? entry?.name : latest.name;
  const dialog = useRef<HTMLDialogElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const isGone = useRef(false);
  const keys = useRef<Keys>({});
  const heading = useId();
  const [failedSave, setFailedSave] = useState<ApiProblem>();
  const at = files.findIndex((file) => file.id === id);
  const former = at > 0 ? files[at - 1] : undefined;
  const next = at === -1 ? undefined : files[at + 1];

  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      isGone.current = true;
      shown?.close(); // before it leaves the document: this returns the focus
    };
  }, []);
  // Keys go to what is shown, also after a button that had the focus is gone.
  useLayoutEffect(() => {
    setFailedSave(undefined);
    const focused = document.activeElement;
    const isOnButton = dialog.current?.contains(focused) && focused?.matches('.preview-step:not(:disabled)');
    if (!isOnButton) stage.current?.focus({ preventScroll: true });
  }, [id]);
  useTitleOver(name);
  useShortcuts(
    {
      title: t('title'),
      shortcuts: [
        { keys: 'ArrowLeft', label: t('former') },
        { keys: 'ArrowRight', label: t('next') },
        { keys: '+', label: t('zoomIn') },
        { keys: '-', label: t('zoomOut') },
        { keys: '0', label: t('fit') },
        { keys: 'Mod+f', label: t('findInPdf') },
        { keys: 'Escape', label: t('close') },
      ],
    },
    [],
  );

  const go = (to: { readonly id: string } | undefined): void => {
    if (to) onShow(to.id);
  };
  const does = (key: string): boolean => {
    const action = { ArrowLeft: () => go(former), ArrowRight: () => go(next), ...keys.current }[key];
    action?.();
    return action !== undefined;
  };
  const pressedInFrame = (key: string): void => {
    if (key === 'Escape') onClose();
    else if (key === '?') shortcuts.press(new KeyboardEvent('keydown', { key }));
    else does(key);
  };
  const press = (event: KeyboardEvent): void => {
    // Keys of the preview are not those of the page behind it, but for the one that lists them.
    if (event.key !== '?') event.stopPropagation();
    if (event.defaultPrevented || event.altKey || hasOwnUse(event, stage.current)) return;
    if (does(event.ctrlKey || event.metaKey ? `Mod+${event.key.toLowerCase()}` : event.key)) event.preventDefault();
  };
  const showNewer = (version: Entry): void => {
    setNewer(version);
    stage.current?.focus({ preventScroll: true });
  };
  const save = (): void => {
    setFailedSave(undefined);
    if (entry) saveFile(client, entry).catch((error: unknown) => setFailedSave(problemOf(error)));
  };

  return (
    <dialog
      ref={dialog}
      class="preview"
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => isGone.current || onClose()}
      onKeyDown={press}
    >
      <div class="preview-head">
        {entry && <FileIcon mimeType={entry.mimeType} name={entry.name} size="l" />}
        <div class="preview-title">
          <h2 id={heading} class="preview-name" title={name}>
            {name ?? t('title')}
          </h2>
          <p class="preview-facts" role="status">
            {entry?.size != null && <FileSize bytes={entry.size} />}
            {files.length > 1 && <span>{t('position', { number: at + 1, total: files.length })}</span>}
          </p>
        </div>
        <IconButton icon="download" label={t('download')} onClick={save} disabled={!entry} />
        <IconButton icon="close" label={t('close')} onClick={onClose} />
      </div>
      {entry && <ChangeNote shown={entry} latest={latest} onShow={showNewer} />}
      <div ref={stage} class="preview-stage" role="group" aria-label={t('content', { name: entry?.name ?? '' })} tabIndex={0}>
        {failedSave && <ProblemNote problem={failedSave} onRetry={save} />}
        {problem && <ProblemNote problem={problem} onRetry={reload} />}
        {!entry && !problem && <Spinner label={t('loading')} />}
        {entry && (
          <Shown
            key={`${entry.id} ${entry.version}`}
            entry={entry}
            stage={stage}
            keys={keys}
            onKey={pressedInFrame}
            onChanged={look}
            onSave={save}
          />
        )}
      </div>
      {files.length > 1 && (
        <>
          <IconButton
            icon="chevron-left"
            label={t('former')}
            class="preview-step preview-former"
            disabled={!former}
            onClick={() => go(former)}
          />
          <IconButton
            icon="chevron-right"
            label={t('next')}
            class="preview-step preview-next"
            disabled={!next}
            onClick={() => go(next)}
          />
        </>
      )}
      <Status />
    </dialog>
  );
}

/** Says whether a key is for what has the focus: a field, a recording, or the stage where its content is wider than it. */
function hasOwnUse({ key, target }: KeyboardEvent, stage: HTMLElement | null): boolean {
  const focused = target as Element;
  if (focused.closest('input, select, textarea')) return true;
  if (!key.startsWith('Arrow')) return false;
  return focused.closest('audio, video') !== null || (focused === stage && stage.scrollWidth > stage.clientWidth);
}
