import { useState } from 'preact/hooks';
import type { Job } from '../../api/operations.generated.ts';
import { Notice } from '../../design/badge.tsx';
import { t } from '../../text/helpers.ts';
import { useSubmit } from '../use-submit.ts';
import type { Entry } from '../files/entry.ts';
import { useClient } from '../services.ts';
import { type As, AsField } from './as-field.tsx';
import { HelperDialog } from './helper-dialog.tsx';
import { LanguageField } from './language-field.tsx';
import { useLanguages } from './use-languages.ts';

interface Props {
  readonly entry: Entry;
  readonly onClose: () => void;
  readonly onBegun: (job: Job) => void;
}

/** Translates a PDF, page by page, as a job. */
export function TranslatePdfDialog({ entry, onClose, onBegun }: Props) {
  const client = useClient();
  const { isAvailable, languages, isLoading, target, setTarget } = useLanguages('pdf_translate');
  const [as, setAs] = useState<As>('copy');
  const [isTried, setTried] = useState(false);
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const body = { target_language: target.trim(), as };
    onBegun(await client.post('/files/{id}/translate', { path: { id: entry.id }, body, idempotencyKey }));
  });
  const ofTarget = problem?.ofField('target_language');
  return (
    <HelperDialog
      title={t('translateTitle', { name: entry.name })}
      doLabel={t('translateDo')}
      isBusy={isBusy}
      problem={ofTarget === undefined ? problem : undefined}
      onSubmit={() => {
        setTried(true);
        if (target.trim() !== '') submit();
      }}
      onClose={onClose}
    >
      {isAvailable === false && <Notice tone="warning">{t('unavailable')}</Notice>}
      <LanguageField
        value={target}
        onValue={setTarget}
        languages={languages}
        isLoading={isLoading}
        error={isTried && target.trim() === '' ? t('targetMissing') : ofTarget}
      />
      <AsField value={as} onValue={setAs} />
    </HelperDialog>
  );
}
