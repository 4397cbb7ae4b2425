import { useState } from 'preact/hooks';
import type { Operations } from '../../../api/operations.generated.ts';
import { Button } from '../../../design/button.tsx';
import { Menu } from '../../../design/menu.tsx';
import { toasts } from '../../../design/toasts.ts';
import { t } from '../../../text/audit.ts';
import { failureToast } from '../../failure-toast.ts';
import { useClient } from '../../services.ts';
import { saveBlob, saveTable } from '../../save-blob.ts';

const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

/** Saves all entries that match, not only those on the screen. */
export function ExportMenu({ query }: { readonly query: Operations['GET /audit']['query'] }) {
  const client = useClient();
  const [isBusy, setBusy] = useState(false);
  const save = async (kind: keyof typeof TYPES): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    try {
      const reply = await client.send('GET', '/audit', { query, headers: { accept: TYPES[kind] } });
      const name = `audit-${new Date().toISOString().slice(0, 10)}.${kind}`;
      (kind === 'csv' ? saveTable : saveBlob)(await reply.blob(), name);
      toasts.show({ text: t('exported', { name }), tone: 'success' });
    } catch (error) {
      failureToast(error);
    }
    setBusy(false);
  };
  return (
    <Menu
      label={t('export')}
      align="end"
      items={[
        { label: t('exportCsv'), icon: 'grid', onSelect: () => void save('csv') },
        { label: t('exportLines'), icon: 'code', onSelect: () => void save('ndjson') },
      ]}
      trigger={(props) => (
        <Button icon="download" isBusy={isBusy} {...props}>
          {t('export')}
        </Button>
      )}
    />
  );
}
