import { Button } from '../../design/button.tsx';
import { Progress } from '../../design/progress.tsx';
import { t } from '../../text/files.ts';
import { useObserved } from '../use-observed.ts';
import type { Batch } from './batch.ts';

/** What runs on the server for many files: how far it is, and a button that ends it. */
export function BatchBar({ batch, label }: { readonly batch: Batch; readonly label: string }) {
  const { done, total } = useObserved(batch.progress);
  const words = t('progress', { done, total });
  return (
    <div class="files-batch">
      <p class="files-batch-text">
        {label} <span class="files-quiet">{words}</span>
      </p>
      <Progress label={label} value={done} max={total} valueText={words} />
      <Button size="s" kind="quiet" onClick={() => batch.cancel()}>
        {t('cancel')}
      </Button>
    </div>
  );
}
