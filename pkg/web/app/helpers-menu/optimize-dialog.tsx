import { useState } from 'preact/hooks';
import type { Job } from '../../api/operations.generated.ts';
import { Notice } from '../../design/badge.tsx';
import { RadioGroup } from '../../design/checkbox.tsx';
import { t } from '../../text/helpers.ts';
import { useSubmit } from '../use-submit.ts';
import type { Entry } from '../files/entry.ts';
import { useClient } from '../services.ts';
import { type As, AsField } from './as-field.tsx';
import { HelperDialog } from './helper-dialog.tsx';

const QUALITIES = ['high', 'medium', 'low'] as const;

interface Props {
  readonly entry: Entry;
  readonly onClose: () => void;
  readonly onBegun: (job: Job) => void;
}

/** Makes a PDF smaller. One that is signed loses its signatures, so the dialog asks again. */
export function OptimizeDialog({ entry, onClose, onBegun }: Props) {
  const client = useClient();
  const [quality, setQuality] = useState<(typeof QUALITIES)[number]>('medium');
  const [as, setAs] = useState<As>('version');
  const [isSigned, setSigned] = useState(false);
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const body = { quality, as, force: isSigned };
    try {
      onBegun(await client.post('/files/{id}/optimize', { path: { id: entry.id }, body, idempotencyKey }));
    } catch (error) {
      if (!isSigned && (error as { code?: string }).code === 'pdf_signed') setSigned(true);
      throw error;
    }
  });
  return (
    <HelperDialog
      title={t('optimizeTitle', { name: entry.name })}
      doLabel={isSigned ? t('force') : t('optimizeDo')}
      isBusy={isBusy}
      problem={problem?.code === 'pdf_signed' ? undefined : problem}
      onSubmit={submit}
      onClose={onClose}
    >
      {isSigned && (
        <Notice tone="warning" title={t('signed')}>
          {t('signedText')}
        </Notice>
      )}
      <RadioGroup
        legend={t('quality')}
        value={quality}
        onValue={setQuality}
        options={QUALITIES.map((value) => ({ value, label: t(`quality.${value}`), hint: t(`qualityHint.${value}`) }))}
      />
      <AsField value={as} onValue={setAs} />
    </HelperDialog>
  );
}
