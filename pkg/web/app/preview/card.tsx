import type { ComponentChildren } from 'preact';
import { Button } from '../../design/button.tsx';
import { FileIcon } from '../../design/file-icon.tsx';
import { DateTime, FileSize } from '../../design/measures.tsx';
import { t } from '../../text/preview.ts';
import type { Entry } from '../files/entry.ts';

interface Props {
  readonly entry: Entry;
  readonly onSave: () => void;
  /** Why the content itself is not shown. */
  readonly children: ComponentChildren;
}

/** What a file is, where its content cannot be shown. */
export function Card({ entry, onSave, children }: Props) {
  const { name, mimeType, size, time, owner } = entry;
  return (
    <section class="preview-card" aria-label={name}>
      <FileIcon mimeType={mimeType} name={name} size="xl" />
      <p class="preview-card-name">{name}</p>
      <div class="preview-card-why">{children}</div>
      <dl class="preview-card-facts">
        <dt>{t('type')}</dt>
        <dd>{mimeType ?? t('unknownType')}</dd>
        {size !== null && (
          <>
            <dt>{t('size')}</dt>
            <dd>
              <FileSize bytes={size} />
            </dd>
          </>
        )}
        <dt>{t('changed')}</dt>
        <dd>
          <DateTime value={time} />
        </dd>
        <dt>{t('owner')}</dt>
        <dd>{owner.name}</dd>
      </dl>
      <Button kind="primary" icon="download" onClick={onSave}>
        {t('download')}
      </Button>
    </section>
  );
}
