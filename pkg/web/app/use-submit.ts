import { useState } from 'preact/hooks';
import { newId } from '../api/new-id.ts';
import { type ApiProblem, problemOf } from '../api/problem.ts';

interface Submit {
  readonly isBusy: boolean;
  readonly problem: ApiProblem | undefined;
  /** Runs the change once at a time. What it refuses is in `problem`. */
  readonly submit: () => void;
}

/** The state of a form that sends one change. The same key for each attempt lets the API make the change once. */
export function useSubmit(change: (idempotencyKey: string) => Promise<void>): Submit {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();
  const [key, setKey] = useState(newId);
  const submit = async (): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await change(key);
    } catch (error) {
      const refused = problemOf(error);
      // What was refused changed nothing, and is sent differently next time.
      if (refused.code !== 'unreachable') setKey(newId());
      setProblem(refused);
    }
    setBusy(false);
  };
  return { isBusy, problem, submit: () => void submit() };
}
