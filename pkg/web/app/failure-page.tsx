import type { ApiProblem } from '../api/problem.ts';
import { t } from '../text/shell.ts';
import { ProblemNote } from './problem-note.tsx';
import { useFirstView } from './shell/first-view.ts';
import './plain-page.css';

/** In place of everything, when nothing can be shown. */
export function FailurePage({ problem, onRetry }: { readonly problem: ApiProblem; readonly onRetry: () => void }) {
  useFirstView();
  return (
    <main class="plain-page">
      <h1>{t('failure.title')}</h1>
      <ProblemNote problem={problem} onRetry={onRetry} />
    </main>
  );
}
