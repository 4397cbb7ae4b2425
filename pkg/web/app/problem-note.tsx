import type { ApiProblem } from '../api/problem.ts';
import { Button } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import { RequestId } from '../design/request-id.tsx';
import { t } from '../text/shell.ts';
import { LoadAgain } from './load-again.tsx';
import { problemText } from './problem-text.ts';
import './problem-note.css';

interface Props {
  readonly problem: ApiProblem;
  /** In place of what the problem means elsewhere. */
  readonly text?: string | undefined;
  /** Shows a button that tries again. */
  readonly onRetry?: (() => void) | undefined;
}

/** What went wrong and what to do, where it went wrong. The request id helps an administrator to find it in the log. */
export const ProblemNote = ({ problem, text = problemText(problem), onRetry }: Props) => (
  <div class="problem-note">
    <Icon name="alert" />
    <div class="problem-note-body">
      {/* Not around the id: a screen reader would read everything again when the id is copied. */}
      <div role="alert">
        <p>{text}</p>
      </div>
      {problem.requestId !== undefined && (
        <div class="problem-note-reference">
          <span>
            {t('failure.code')}: <code>{problem.code}</code>
          </span>
          <RequestId id={problem.requestId} />
        </div>
      )}
      {!onRetry && problem.code === 'precondition_failed' && <LoadAgain />}
      {onRetry && (
        <Button size="s" icon="refresh" onClick={onRetry}>
          {t('failure.retry')}
        </Button>
      )}
    </div>
  </div>
);
