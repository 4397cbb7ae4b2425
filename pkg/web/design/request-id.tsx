import { createContext } from 'preact';
import { useContext, useRef, useState } from 'preact/hooks';
import { IconButton } from './icon-button.tsx';
import './request-id.css';

/** What the component says; functions, because the language may change. */
export interface RequestTexts {
  /** Stands before the id: "Request". */
  readonly request: () => string;
  readonly copy: () => string;
  /** The name of the button. It contains the text of `copy`. */
  readonly copyLabel: () => string;
  readonly copied: () => string;
  /** Where the browser does not let the page copy. */
  readonly selected: () => string;
}

/** A document of pages provides it once, around everything. */
export const RequestTextsContext = createContext<RequestTexts | undefined>(undefined);

interface Props {
  readonly id: string | undefined;
}

/**
 * The id of the request that failed, which an administrator finds in the log, with a button that copies it. Nothing where no
 * reply gave an id. Where the browser does not let the page copy, the id is selected for Ctrl+C.
 */
export function RequestId({ id }: Props) {
  const { code, result, copy } = useCopy(id);
  const texts = useContext(RequestTextsContext);
  if (id === undefined) return null;
  if (!texts) throw outside();
  return (
    <span class="c-request">
      <span>
        {texts.request()} <code ref={code}>{id}</code>
      </span>
      <button type="button" class="c-request-copy" aria-label={texts.copyLabel()} onClick={copy}>
        {texts.copy()}
      </button>
      {/* It is there before its text, and within a dialog, so that a screen reader reads it. */}
      <span role="status">{result && texts[result]()}</span>
    </span>
  );
}

/** The same as a button alone, for rows that have no room. */
export function RequestIdButton({ id }: Props) {
  const { code, result, copy } = useCopy(id);
  const texts = useContext(RequestTextsContext);
  if (id === undefined) return null;
  if (!texts) throw outside();
  return (
    <>
      <IconButton icon={result === 'copied' ? 'check' : 'copy'} size="s" label={`${texts.copyLabel()}: ${id}`} onClick={copy} />
      <code ref={code} class="c-hidden" aria-hidden="true">
        {id}
      </code>
      <span role="status" class="c-hidden">
        {result && texts[result]()}
      </span>
    </>
  );
}

const outside = (): Error => new Error('this component is outside of a document that provides RequestTextsContext');

/** Copies an id, or selects the element that shows it. `result` is of this id, not of the one before. */
function useCopy(id: string | undefined) {
  const [done, setDone] = useState<{ readonly id: string; readonly result: 'copied' | 'selected' }>();
  const code = useRef<HTMLElement>(null);
  const copy = async (): Promise<void> => {
    if (id === undefined) return;
    try {
      await navigator.clipboard.writeText(id);
      setDone({ id, result: 'copied' });
    } catch {
      if (code.current) getSelection()?.selectAllChildren(code.current);
      setDone({ id, result: 'selected' });
    }
  };
  return { code, result: done && done.id === id ? done.result : undefined, copy: () => void copy() };
}
