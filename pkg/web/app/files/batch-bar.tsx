import { Button } from '../../design/button.tsx';
import { Progress } from '../../design/progress.tsx';
import { t } from '../../text/files.ts';
import { useObserved } from '../use-observed.ts';
import type { Work } from './batch.ts';

/** What runs on the server for many files: how far it is, and a button that ends it. A total of 0: nobody knows how far. */
export function BatchBar({ work, label }: { readonly work: Work; readonly label: string }) {
  const { done, total } = useObserved(work.progress);
  const words = t('progress', { done, total });
  return (
    <div class="files-batch">
      <p class="files-batch-text">
        {label} {total > 0 && <span class="files-quiet">{words}</span>}
      </p>
      <Progress label={label} {...(total > 0 ? { value: done, max: total, valueText: words } : {})} />
      <Button size="s" kind="quiet" onClick={() => work.cancel()}>
        {t('cancel')}
      </Button>
    </div>
  );
}
