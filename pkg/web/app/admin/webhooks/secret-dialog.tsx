import { Button } from '../../../design/button.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { t } from '../../../text/webhooks.ts';
import { CopyField } from '../../copy-field.tsx';

/** Shows a secret, the only time that anybody sees it. */
export const SecretDialog = ({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) => (
  <Dialog
    title={t('secretTitle')}
    closeLabel={t('close')}
    onClose={onClose}
    actions={
      <Button kind="primary" onClick={onClose}>
        {t('done')}
      </Button>
    }
  >
    <CopyField label={t('secret')} value={secret} hint={t('secretOnce')} />
    <p class="admin-quiet">{t('secretHow')}</p>
  </Dialog>
);
