import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type FieldRefusal, isAbort, problemOf } from '../../api/problem.ts';
import { announce } from '../../design/live-region.tsx';
import { RequestId } from '../../design/request-id.tsx';
import { t } from '../../text/files.ts';
import { problemText } from '../problem-text.ts';
import { type Entry, stemLength } from './entry.ts';
import { RenamedElsewhere } from './rename.ts';

interface Props {
  readonly entry: Entry;
  /** Rejects with the reason why the name is refused. */
  readonly onRename: (entry: Entry, name: string) => Promise<void>;
  readonly onEnd: () => void;
}

/**
 * The name of an entry as a field. Enter and leaving it rename, Escape does not; a refused name stays to be changed. A name that
 * somebody else has given meanwhile is changed by Enter alone.
 */
export function RenameField({ entry, onRename, onEnd }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<FieldRefusal>();
  const isBusy = useRef(false);
  const known = useRef(entry);
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.setSelectionRange(0, stemLength(entry));
  }, []);

  /** The focus returns to where the name stands, once it stands there again. */
  const leave = (): void => {
    const cell = input.current?.closest<HTMLElement>('[role=rowheader], [role=gridcell]');
    onEnd();
    requestAnimationFrame(() => {
      // Unless something else has taken it meanwhile, such as the next field.
      if (document.activeElement !== document.body) return;
      (cell?.matches('[tabindex]') ? cell : cell?.querySelector<HTMLElement>('.files-open'))?.focus();
    });
  };
  const end = async (hasFocus: boolean): Promise<void> => {
    const name = input.current?.value.trim() ?? '';
    if (isBusy.current) return;
    const isOthers = known.current !== entry && !hasFocus;
    if (name === '' || name === known.current.name || isOthers) return hasFocus ? leave() : onEnd();
    isBusy.current = true;
    try {
      await onRename(known.current, name);
      if (hasFocus) leave();
      else onEnd();
    } catch (failure) {
      if (isAbort(failure)) return;
      const problem = problemOf(failure);
      const others = failure instanceof RenamedElsewhere ? (known.current = failure.entry).name : undefined;
      const text = others === undefined ? problemText(problem) : t('renamedElsewhere', { name: others });
      const refusal = problem.ofField('name') ?? problem.inWords(text);
      setError(refusal);
      announce(refusal.text);
      input.current?.focus();
    } finally {
      isBusy.current = false;
    }
  };
  return (
    <span
      class="files-rename"
      onFocusOut={({ currentTarget, relatedTarget }) => {
        // The button that copies the request id is part of it.
        if (relatedTarget instanceof Node && currentTarget.contains(relatedTarget)) return;
        // A dialog that comes over the page, to sign in again, ends nothing: the focus returns from it.
        if (!document.querySelector('dialog:modal')) void end(false);
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === 'Enter' && event.target === input.current) void end(true);
        if (event.key !== 'Escape') return;
        isBusy.current = true; // leaving the field is no renaming now
        leave();
      }}
    >
      <input
        ref={input}
        class="c-input"
        defaultValue={entry.name}
        aria-label={t('renameOf', { name: entry.name })}
        maxLength={255}
        autocomplete="off"
        spellcheck={false}
        {...(error === undefined ? {} : { 'aria-invalid': true as const, title: error.text })}
        onInput={() => setError(undefined)}
      />
      {error !== undefined && (
        <span class="files-rename-error">
          {error.text}
          <RequestId id={error.requestId} />
        </span>
      )}
    </span>
  );
}
