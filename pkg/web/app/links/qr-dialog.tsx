import { Dialog } from '../../design/dialog.tsx';
import { QrCode } from '../../design/qr-code.tsx';
import { t } from '../../text/links.ts';
import { t as ofSharing } from '../../text/sharing.ts';

interface Props {
  readonly name: string;
  readonly url: string;
  readonly onClose: () => void;
}

/** The address of a link, to photograph and to select. */
export const QrDialog = ({ name, url, onClose }: Props) => (
  <Dialog title={t('changeOf', { name })} closeLabel={t('close')} size="s" onClose={onClose}>
    <div class="links-qr">
      <QrCode text={url} label={ofSharing('qrLabel')} />
      <p>
        <a href={url} target="_blank" rel="noreferrer">
          {url}
        </a>
      </p>
    </div>
  </Dialog>
);
