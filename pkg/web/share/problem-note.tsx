import type { ApiProblem } from '../api/problem.ts';
import { Button } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import { RequestId } from '../design/request-id.tsx';
import { en } from '../text/problems.en.ts';
import { type Key, t as problemText } from '../text/problems.ts';
import { t } from '../text/share.ts';

interface Props {
  readonly problem: ApiProblem;
  /** Shows a button that tries again. */
  readonly onRetry?: (() => void) | undefined;
}

/** What went wrong and what to do. The server's own sentence is for those who write programs. */
export function ProblemNote({ problem: { code, retryAfter, requestId }, onRetry }: Props) {
  const key = `problem.${code}`;
  const seconds = retryAfter ?? 1;
  return (
    <div class="share-problem">
      <Icon name="alert" />
      <div class="share-problem-body">
        <div role="alert">
          <p>{problemText(Object.hasOwn(en, key) ? (key as Key) : 'problem.unknown', { seconds })}</p>
        </div>
        <RequestId id={requestId} />
        {onRetry && (
          <Button size="s" icon="refresh" onClick={onRetry}>
            {t('retry')}
          </Button>
        )}
      </div>
    </div>
  );
}
