import { useEffect, useState } from 'preact/hooks';
import type { Job } from '../../api/operations.generated.ts';
import { type ApiProblem, isAbort, problemOf } from '../../api/problem.ts';
import { useClient } from '../services.ts';
import { followJob } from './follow-job.ts';

interface FollowedJob {
  readonly job: Job | undefined;
  readonly problem: ApiProblem | undefined;
  readonly retry: () => void;
}

/** A job as it is now, until it has ended. */
export function useJob(id: string): FollowedJob {
  const client = useClient();
  const [state, setState] = useState<{ readonly job?: Job; readonly problem?: ApiProblem }>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState({});
    followJob(client, id, (job) => abort.signal.aborted || setState({ job }), abort.signal).catch((error: unknown) => {
      if (!abort.signal.aborted && !isAbort(error)) setState((before) => ({ ...before, problem: problemOf(error) }));
    });
    return () => abort.abort();
  }, [id, turn]);
  return { job: state.job, problem: state.problem, retry: () => setTurn((last) => last + 1) };
}
