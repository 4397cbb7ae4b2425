import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { Spinner } from '../design/progress.tsx';
import { useWhenOnline } from '../design/use-when-online.ts';
import { t } from '../text/shell.ts';
import { Failure } from './failure-page.tsx';
import { loadAnew } from './load-anew.ts';
import { useClient } from './services.ts';
import { useLoaded } from './use-loaded.ts';
import { useObserved } from './use-observed.ts';

/**
 * Returns what stands for a page whose script did not come. It asks for the script whenever it is shown, once the service can be
 * reached again, and by its button; then it is the page.
 */
export function latePage(load: () => Promise<ComponentType>): ComponentType {
  let Page: ComponentType | undefined;
  return function LatePage(props) {
    const isReachable = useObserved(useClient().isReachable);
    const { problem, reload } = useLoaded(async () => (Page ??= await load()), []);
    const isAway = problem?.code === 'unreachable';
    useWhenOnline(problem, reload);
    useEffect(() => {
      if (isReachable && isAway) reload();
    }, [isReachable]);
    if (Page) return <Page {...props} />;
    if (!problem) return <Spinner label={t('loading')} />;
    return <Failure problem={problem} onRetry={isAway ? reload : () => void loadAnew()} />;
  };
}
