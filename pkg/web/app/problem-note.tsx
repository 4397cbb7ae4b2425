import { useState } from 'preact/hooks';
import type { ApiProblem } from '../api/problem.ts';
import { Button } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import { t } from '../text/shell.ts';
import { problemText } from './problem-text.ts';
import './problem-note.css';

interface Props {
  readonly problem: ApiProblem;
  /** Shows a button that tries again. */
  readonly onRetry?: (() => void) | undefined;
}

/** What went wrong and what to do, where it went wrong. The request id helps an administrator to find it in the log. */
export const ProblemNote = ({ problem, onRetry }: Props) => (
  <div class="problem-note" role="alert">
    <Icon name="alert" />
    <div class="problem-note-body">
      <p>{problemText(problem)}</p>
      <ProblemReference problem={problem} />
      {onRetry && (
        <Button size="s" icon="refresh" onClick={onRetry}>
          {t('failure.retry')}
        </Button>
      )}
    </div>
  </div>
);

/** The code and the request id, which can be copied. */
function ProblemReference({ problem }: { readonly problem: ApiProblem }) {
  const [isCopied, setCopied] = useState(false);
  const { code, requestId } = problem;
  if (requestId === undefined) return null;
  const copy = (): void => void navigator.clipboard?.writeText(requestId).then(() => setCopied(true));
  return (
    <p class="problem-note-reference">
      {t('failure.code')}: <code>{code}</code>, {t('failure.request')}: <code>{requestId}</code>{' '}
      <Button kind="quiet" size="s" icon="copy" onClick={copy}>
        {isCopied ? t('copied') : t('failure.copy')}
      </Button>
    </p>
  );
}
