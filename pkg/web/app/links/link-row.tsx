import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import type { Share } from '../../api/operations.generated.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { FileIcon, KindIcon } from '../../design/file-icon.tsx';
import { Icon } from '../../design/icon.tsx';
import { IconButton } from '../../design/icon-button.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { toasts } from '../../design/toasts.ts';
import { t } from '../../text/links.ts';
import { t as ofSharing } from '../../text/sharing.ts';
import { failureToast } from '../failure-toast.ts';
import { previewAddress } from '../preview/address.ts';
import { useClient } from '../services.ts';
import { copyLink } from '../sharing/copy-link.ts';
import { DeleteLink } from '../sharing/delete-link.tsx';
import { DeadNote, downloadsInWords, endInWords, modeInWords } from '../sharing/link-facts.tsx';
import { LinkForm } from '../sharing/link-form.tsx';
import { linkMenu } from '../sharing/link-menu.ts';
import { nameOf, resourceOf } from '../sharing/link-resource.ts';
import { useLater } from '../use-later.ts';

interface Props {
  readonly link: Share;
  readonly isOwnerShown: boolean;
  readonly onChange: (link: Share) => void;
  readonly onDelete: () => void;
}

/** A link in the list of all links. */
export function LinkRow({ link, isOwnerShown, onChange, onDelete }: Props) {
  const client = useClient();
  const { route } = useLocation();
  const [shown, setShown] = useState<'form' | 'qr' | 'delete'>();
  const [QrDialog, loadQr] = useLater(async () => (await import('./qr-dialog.tsx')).QrDialog);
  const now = new Date();
  const name = nameOf(link);
  const resource = resourceOf(link);
  const hide = (): void => setShown(undefined);
  const showQr = async (): Promise<void> => setShown((await loadQr()) ? 'qr' : undefined);
  const copy = async (url: string): Promise<void> => {
    if (!(await copyLink(url))) await showQr();
  };
  const setActive = (is_active: boolean): void => {
    client.patch('/shares/{id}', { path: { id: link.id }, body: { is_active } }).then((changed) => {
      onChange(changed);
      toasts.show({ text: is_active ? t('switchedOn') : t('switchedOff') });
    }, failureToast);
  };
  const showFolder = async (): Promise<void> => {
    try {
      const { folder } = await client.get('/files/{id}', { path: { id: resource.id } });
      route(folder ? `/files/${folder.id}` : '/');
    } catch (error) {
      failureToast(error);
    }
  };
  const inFolder: MenuItem = { label: t('showFolder'), icon: 'folder', onSelect: () => void showFolder() };
  return (
    <li class="links-row">
      {resource.type === 'folder' ? <KindIcon kind="folder" /> : <FileIcon mimeType={undefined} name={name} />}
      <div class="links-row-text">
        <p class="links-name">
          {link.url === null ? (
            name
          ) : (
            <a class="c-name" href={addressOf(resource)}>
              {name}
            </a>
          )}
        </p>
        <ul role="list" class="share-terms">
          <li>{modeInWords(link)}</li>
          {isOwnerShown && <li>{t('madeBy', { name: link.created_by.name })}</li>}
          {link.has_password && (
            <li>
              <Icon name="lock" size="s" />
              {ofSharing('terms.password')}
            </li>
          )}
          <li>{endInWords(link.expires_at, now)}</li>
          {link.mode !== 'upload' && <li>{downloadsInWords(link)}</li>}
        </ul>
        <DeadNote link={link} now={now} />
      </div>
      <div class="links-row-actions">
        {link.url !== null && (
          <Button size="s" icon="copy" aria-label={t('copyOf', { name })} onClick={() => void copy(link.url ?? '')}>
            {ofSharing('copy')}
          </Button>
        )}
        <Menu
          label={t('actionsOf', { name })}
          align="end"
          items={[
            ...(resource.type === 'file' && link.url !== null ? [inFolder] : []),
            ...linkMenu({
              link,
              onChange: () => setShown('form'),
              onQr: () => void showQr(),
              onActive: setActive,
              onDelete: () => setShown('delete'),
            }),
          ]}
          trigger={(props) => <IconButton icon="more" label={t('actionsOf', { name })} {...props} />}
        />
      </div>
      {shown === 'qr' && QrDialog && link.url !== null && <QrDialog name={name} url={link.url} onClose={hide} />}
      {shown === 'form' && (
        <Dialog title={t('changeOf', { name })} closeLabel={t('close')} onClose={hide}>
          <LinkForm
            of={resource}
            link={link}
            onCancel={hide}
            onDone={(changed) => {
              hide();
              onChange(changed);
              toasts.show({ text: t('saved'), tone: 'success' });
            }}
          />
        </Dialog>
      )}
      {shown === 'delete' && <DeleteLink link={link} name={name} onCancel={hide} onDone={onDelete} />}
    </li>
  );
}

/** A folder is opened, a file is shown over the list. */
const addressOf = ({ type, id }: ReturnType<typeof resourceOf>): string =>
  type === 'folder' ? `/files/${id}` : previewAddress('/links', id);
