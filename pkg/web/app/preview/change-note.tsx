import { Button } from '../../design/button.tsx';
import { t } from '../../text/preview.ts';
import type { Entry } from '../files/entry.ts';

interface Props {
  readonly shown: Entry;
  readonly latest: Entry | 'gone' | undefined;
  readonly onShow: (latest: Entry) => void;
}

/** Says that the file is another by now, or gone. What was loaded stays until the reader decides. */
export const ChangeNote = ({ shown, latest, onShow }: Props) => (
  <div role="status">
    {latest === 'gone' && <p class="preview-change">{t('gone')}</p>}
    {latest !== undefined && latest !== 'gone' && latest.version !== shown.version && (
      <p class="preview-change">
        {t('hasChanged')}
        <Button size="s" icon="refresh" onClick={() => onShow(latest)}>
          {t('showNew')}
        </Button>
      </p>
    )}
  </div>
);
