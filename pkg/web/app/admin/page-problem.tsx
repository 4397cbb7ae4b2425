import type { ApiProblem } from '../../api/problem.ts';
import { ProblemNote } from '../problem-note.tsx';

interface Props {
  readonly problem: ApiProblem;
  readonly onRetry: () => void;
}

/** Why a page has nothing to show. What the person may not see, or what is gone, no retry brings. */
export const PageProblem = ({ problem, onRetry }: Props) => (
  <ProblemNote problem={problem} onRetry={problem.status === 403 || problem.status === 404 ? undefined : onRetry} />
);
