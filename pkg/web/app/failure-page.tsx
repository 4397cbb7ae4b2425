import type { ApiProblem } from '../api/problem.ts';
import { t } from '../text/shell.ts';
import { ProblemNote } from './problem-note.tsx';
import { useFirstView } from './shell/first-view.ts';
import { useTitle } from './use-title.ts';
import './plain-page.css';

interface Props {
  readonly problem: ApiProblem;
  readonly onRetry: () => void;
}

/** In place of everything, when nothing can be shown. */
export const FailurePage = (props: Props) => (
  <main>
    <Failure {...props} />
  </main>
);

/** In place of a page, when it cannot be shown. */
export function Failure({ problem, onRetry }: Props) {
  useFirstView();
  useTitle(t('failure.title'));
  return (
    <div class="plain-page">
      <h1>{t('failure.title')}</h1>
      <ProblemNote problem={problem} onRetry={onRetry} />
    </div>
  );
}
