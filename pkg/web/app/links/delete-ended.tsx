import { useEffect, useRef, useState } from 'preact/hooks';
import type { Share } from '../../api/operations.generated.ts';
import type { ApiProblem } from '../../api/problem.ts';
import { isAbort } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/confirm.tsx';
import { toasts } from '../../design/toasts.ts';
import { count, t } from '../../text/links.ts';
import { t as ofSharing } from '../../text/sharing.ts';
import { failureToast } from '../failure-toast.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient, useMe } from '../services.ts';
import { nameOf } from '../sharing/link-resource.ts';
import { deleteLinks, endedLinks } from './ended-links.ts';

/** So many are named in the question. */
const NAMED = 5;

interface Props {
  /** A search: it concerns what that finds. */
  readonly q: string;
  /** Some were deleted, or have changed. */
  readonly onDone: () => void;
}

/** Deletes one's links that have ended, also those that the list has not loaded yet, after a question. */
export function DeleteEnded({ q, onDone }: Props) {
  const client = useClient();
  const { user } = useMe();
  const [isReading, setReading] = useState(false);
  const [ended, setEnded] = useState<readonly Share[]>();
  const gone = useRef(new AbortController());
  useEffect(() => () => gone.current.abort(), []);
  const ask = async (): Promise<void> => {
    setReading(true);
    try {
      const found = await endedLinks(client, { owner: user.id, q: q || undefined }, gone.current.signal);
      if (found.length > 0) return setEnded(found);
      toasts.show({ text: t('endedNone') });
      onDone();
    } catch (error) {
      if (!isAbort(error)) failureToast(error);
    } finally {
      setReading(false);
    }
  };
  return (
    <>
      <Button icon="trash" isBusy={isReading} onClick={() => void ask()}>
        {t('endedAsk')}
      </Button>
      {ended && (
        <Question
          links={ended}
          onCancel={(hasDeleted) => {
            setEnded(undefined);
            if (hasDeleted) onDone();
          }}
          onDone={() => {
            setEnded(undefined);
            onDone();
          }}
        />
      )}
    </>
  );
}

interface QuestionProps {
  readonly links: readonly Share[];
  readonly onCancel: (hasDeleted: boolean) => void;
  readonly onDone: () => void;
}

function Question({ links, onCancel, onDone }: QuestionProps) {
  const client = useClient();
  const [left, setLeft] = useState(links);
  const [done, setDone] = useState<number>();
  const [problem, setProblem] = useState<ApiProblem>();
  const gone = useRef(new AbortController());
  useEffect(() => () => gone.current.abort(), []);
  const remove = async (): Promise<void> => {
    setProblem(undefined);
    setDone(0);
    try {
      const outcome = await deleteLinks(client, left, gone.current.signal, setDone);
      setDone(undefined);
      if (outcome.problem) {
        setProblem(outcome.problem);
        setLeft(outcome.left);
        return;
      }
      const kept = outcome.changed === 0 ? [] : [count('endedChanged', outcome.changed)];
      toasts.show({ text: [count('endedDeleted', outcome.deleted), ...kept].join(' '), tone: 'success' });
      onDone();
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  };
  return (
    <Confirm
      title={count('endedTitle', left.length)}
      confirmLabel={count('endedDelete', left.length)}
      cancelLabel={ofSharing('cancel')}
      isDanger
      onConfirm={remove}
      onCancel={() => onCancel(left.length < links.length)}
    >
      <p>{t('endedText')}</p>
      <ul class="links-ended">
        {left.slice(0, NAMED).map((link) => (
          <li key={link.id}>{nameOf(link)}</li>
        ))}
        {left.length > NAMED && <li>{count('endedMore', left.length - NAMED)}</li>}
      </ul>
      <p role="status">{done !== undefined && t('endedProgress', { done, total: left.length })}</p>
      {problem && <ProblemNote problem={problem} />}
    </Confirm>
  );
}
