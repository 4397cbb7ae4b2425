import { useState } from 'preact/hooks';
import { ChangeKeys, isUndecided, type KeyOfContent } from '../api/change-keys.ts';
import { type ApiProblem, problemOf } from '../api/problem.ts';

interface Submit {
  readonly isBusy: boolean;
  readonly problem: ApiProblem | undefined;
  /** Runs the change once at a time. What it refuses is in `problem`. */
  readonly submit: () => void;
}

/** The state of a form that sends one change. Its requests take `idempotencyKey`, so that the API makes each change once. */
export function useSubmit(change: (idempotencyKey: KeyOfContent) => Promise<void>): Submit {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();
  const [keys] = useState(() => new ChangeKeys());
  const submit = async (): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await change(keys.keyOf);
      keys.clear();
    } catch (error) {
      const refused = problemOf(error);
      if (!isUndecided(refused)) keys.clear();
      setProblem(refused);
    }
    setBusy(false);
  };
  return { isBusy, problem, submit: () => void submit() };
}
