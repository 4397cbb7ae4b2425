import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { isAbort } from '../../api/problem.ts';
import { Confirm } from '../../design/confirm.tsx';
import type { Selection } from '../../design/grid/selection.ts';
import { toasts } from '../../design/toast.tsx';
import { count, t } from '../../text/files.ts';
import { failureToast } from '../failure-toast.ts';
import { useClient, useMe } from '../services.ts';
import { loadedLater, useLater } from '../use-later.ts';
import { useObserved } from '../use-observed.ts';
import { Batch, type Operation } from './batch.ts';
import { BatchBar } from './batch-bar.tsx';
import type { Clip } from './clipboard.ts';
import { type Entry, isOfUnknownOrigin } from './entry.ts';
import type { EntryList } from './entry-list.ts';
import { rename } from './rename.ts';
import { begin, end, running } from './running.ts';
import { saveFile } from './save-file.ts';
import { reloadShown } from './shown-lists.ts';

/** What can be done with entries. What was changed shows at once, and the list is read again. */
export interface FileActions {
  readonly trash: (entries: readonly Entry[]) => void;
  readonly restore: (entries: readonly Entry[]) => void;
  readonly purge: (entries: readonly Entry[]) => void;
  readonly move: (entries: readonly Entry[], folderId: string | null) => void;
  readonly copy: (entries: readonly Entry[], folderId: string | null) => void;
  readonly paste: (clip: Clip, folderId: string | null) => void;
  /** Asks where to. */
  readonly askDestination: (kind: 'move' | 'copy', entries: readonly Entry[]) => void;
  /** `onChange` is called after the change, and after somebody has undone it. */
  readonly setTag: (entries: readonly Entry[], tagId: string, isSet: boolean, onChange?: () => void) => Promise<void>;
  /** Saves one file, one folder as an archive, or several as an archive with the name of the list that they are from. */
  readonly download: (entries: readonly Entry[], list: string) => void;
  readonly rename: (entry: Entry, name: string) => Promise<void>;
  /** Returns what is selected, and loads it first where all of a long list is. */
  readonly chosen: (selection: Selection) => Promise<readonly Entry[]>;
  /** The dialogs and the progress of what runs; a page shows them. */
  readonly view: ComponentChildren;
}

type Asked = { readonly kind: 'move' | 'copy' | 'purge'; readonly entries: readonly Entry[] };

export function useFileActions(list: EntryList): FileActions {
  const client = useClient();
  const { user, reload: reloadMe } = useMe();
  const shown = useObserved(running);
  const [asked, setAsked] = useState<Asked>();
  const [Destination, loadDestination] = useLater(async () => (await import('./destination-dialog.tsx')).DestinationDialog);
  const latest = useRef(list);
  latest.current = list;

  const say = (error: unknown): void => {
    if (!isAbort(error)) failureToast(error);
  };

  /** Runs a batch, shows its progress, and says how it ended, also to whoever has opened another page meanwhile. */
  const run = async (entries: readonly Entry[], operation: Operation, says: Says): Promise<void> => {
    if (entries.length === 0) return;
    const ids = new Set(entries.map(({ id }) => id));
    const batch = new Batch(client, operation, entries);
    const undone = (isWhole: boolean) => {
      const undo = says.undo?.();
      return undo && { action: { label: t('undo'), onSelect: () => undo(batch, isWhole) } };
    };
    const signal = begin(batch, says.running);
    const endLeaving = says.leaves ? latest.current.leave(ids) : undefined;
    try {
      await says.before?.();
      const { done, failed, isCanceled } = await batch.run(signal);
      const action = done > 0 && undone(failed === 0 && !isCanceled);
      if (failed > 0) {
        const later = await loadedLater(() => import('./failed-items.ts')).catch(() => undefined);
        const text = count('failed', failed);
        const end = await later?.restoreOrExplain({ client, batch, entries, signal, text, failed });
        toasts.show({ ...(end ?? { text, tone: 'danger' }), ...action });
      } else if (isCanceled) toasts.show({ text: count('canceled', done), ...action });
      else if (done > 0) toasts.show({ text: says.done(done), ...action });
    } catch (error) {
      say(error);
    } finally {
      end(batch);
      endLeaving?.();
      if (!signal.aborted) {
        await reloadShown();
        reloadMe();
      }
    }
  };

  const restore = (entries: readonly Entry[]): void =>
    void run(entries, { operation: 'restore' }, { running: t('restoring'), done: (n) => count('restored', n), leaves: true });
  const putBack = async (batch: Batch, entries: readonly Entry[], isWhole: boolean): Promise<void> => {
    try {
      const later = await loadedLater(() => import('./put-back.ts'));
      toasts.show(await later.putBack({ client, batch, entries, isWhole }));
    } catch (error) {
      say(error);
    }
    await reloadShown();
  };
  const restoreOf = async (batch: Batch, entries: readonly Entry[], isWhole: boolean): Promise<void> => {
    try {
      if (isWhole) restore(entries);
      else restore(await (await loadedLater(() => import('./put-back.ts'))).changedBy(client, batch, entries));
    } catch (error) {
      say(error);
    }
  };
  const moveTo = (entries: readonly Entry[], folderId: string | null): void => {
    const moved = entries.filter(({ id, parentId }) => id !== folderId && (parentId ?? null) !== folderId);
    let known: readonly Entry[] = moved;
    const findOrigins = async (): Promise<void> => {
      if (!moved.some((entry) => isOfUnknownOrigin(entry, user.id))) return;
      // Without them it is moved all the same.
      const later = await loadedLater(() => import('./put-back.ts')).catch(() => undefined);
      known = (await later?.withOrigins(client, moved, user.id)) ?? moved;
    };
    const undo: Undo = (batch, isWhole) => void putBack(batch, known, isWhole);
    void run(
      moved,
      { operation: 'move', arguments: { folder_id: folderId } },
      {
        running: t('moving'),
        done: (n) => count('moved', n),
        leaves: true,
        before: findOrigins,
        undo: () => (known.some(({ parentId }) => parentId !== undefined) ? undo : undefined),
      },
    );
  };
  const copyTo = (entries: readonly Entry[], folderId: string | null): void =>
    void run(
      entries,
      { operation: 'copy', arguments: { folder_id: folderId, on_conflict: 'rename' } },
      { running: t('copying'), done: (n) => count('copied', n) },
    );
  const purge = (entries: readonly Entry[]): Promise<void> =>
    run(entries, { operation: 'purge' }, { running: t('purging'), done: (n) => count('purged', n), leaves: true });
  const tagAgain = async (batch: Batch, files: readonly Entry[], isWhole: boolean, tagId: string, onChange?: () => void) => {
    try {
      const changed = isWhole ? files : await (await loadedLater(() => import('./put-back.ts'))).changedBy(client, batch, files);
      await setTag(changed, tagId, true, onChange);
    } catch (error) {
      say(error);
    }
  };
  /** Returns the files from which the tag is taken: of several those that have it, so that Undo gives it to no others. */
  const taggedOf = async (files: readonly Entry[], tagId: string): Promise<readonly Entry[]> => {
    if (files.length < 2) return files;
    const { withTag } = await loadedLater(() => import('./tags/with-tag.ts'));
    const tagged = await withTag(client, files, tagId);
    if (tagged.length === 0) toasts.show({ text: t('noneTagged') });
    return tagged;
  };
  const setTag: FileActions['setTag'] = async (entries, tagId, isSet, onChange) => {
    const chosen = entries.filter(({ type }) => type === 'file');
    let files: readonly Entry[] = chosen;
    try {
      if (!isSet) files = await taggedOf(chosen, tagId);
    } catch (error) {
      return say(error);
    }
    const says: Says = isSet
      ? { running: t('tagging'), done: (n) => count('tagged', n) }
      : {
          running: t('tagging'),
          done: (n) => count('untagged', n),
          undo: () => (batch, isWhole) => void tagAgain(batch, files, isWhole, tagId, onChange),
        };
    await run(files, { operation: isSet ? 'tag' : 'untag', arguments: { tag_id: tagId } }, says);
    onChange?.();
  };

  const download = async (entries: readonly Entry[], title: string): Promise<void> => {
    const [first, ...others] = entries;
    try {
      if (first && others.length === 0) return await saveFile(client, first);
      const later = await loadedLater(() => import('./save-archive.ts'));
      if (first) toasts.show(await later.saveArchive(client, entries, title));
    } catch (error) {
      say(error);
    }
  };

  return {
    restore,
    move: moveTo,
    copy: copyTo,
    purge: (entries) => setAsked({ kind: 'purge', entries }),
    askDestination: (kind, entries) => {
      void loadDestination().then((isLoaded) => isLoaded && setAsked({ kind, entries }));
    },
    paste: ({ kind, entries }, folderId) => (kind === 'cut' ? moveTo : copyTo)(entries, folderId),
    trash: (entries) =>
      void run(
        entries,
        { operation: 'delete' },
        {
          running: t('trashing'),
          done: (n) => count('trashed', n),
          undo: () => (batch, isWhole) => void restoreOf(batch, entries, isWhole),
          leaves: true,
        },
      ),
    setTag,
    download: (entries, title) => void download(entries, title),
    rename: async (entry, name) => {
      const changed = await rename(client, entry, name);
      // With its new entity tag, so that it can be renamed again at once.
      list.change((rows) => rows.withRow({ ...changed, parentId: entry.parentId }));
      void list.reload();
    },
    chosen: async (selection) => {
      const all = selection.kind === 'all' ? await list.all() : list.state.value.rows.loaded;
      return all.filter(({ id }) => (selection.kind === 'all' ? !selection.except.has(id) : selection.ids.has(id)));
    },
    view: (
      <>
        {shown && <BatchBar work={shown.work} label={shown.label} />}
        {asked && asked.kind !== 'purge' && Destination && (
          <Destination
            kind={asked.kind}
            entries={asked.entries}
            onClose={() => setAsked(undefined)}
            onChoose={(folderId) => {
              setAsked(undefined);
              (asked.kind === 'move' ? moveTo : copyTo)(asked.entries, folderId);
            }}
          />
        )}
        {asked?.kind === 'purge' && (
          <Confirm
            title={count('purgeTitle', asked.entries.length)}
            confirmLabel={t('purge')}
            cancelLabel={t('cancel')}
            isDanger
            onConfirm={() => {
              setAsked(undefined);
              void purge(asked.entries);
            }}
            onCancel={() => setAsked(undefined)}
          >
            {t('purgeText')}
          </Confirm>
        )}
      </>
    ),
  };
}

/** Takes back what the batch has done; `isWhole`: that is all it was given. */
type Undo = (batch: Batch, isWhole: boolean) => void;

interface Says {
  readonly running: string;
  readonly done: (count: number) => string;
  /** What has to be known before it begins. */
  readonly before?: () => Promise<void>;
  /** Returns how to undo it; undefined: it cannot be. */
  readonly undo?: () => Undo | undefined;
  /** The entries leave the shown list. */
  readonly leaves?: boolean;
}
