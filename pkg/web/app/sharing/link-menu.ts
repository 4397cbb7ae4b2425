import type { Share } from '../../api/operations.generated.ts';
import type { MenuItems } from '../../design/menu.tsx';
import { t } from '../../text/sharing.ts';

interface Wants {
  readonly link: Share;
  readonly isQrShown?: boolean;
  readonly onChange: () => void;
  readonly onQr: () => void;
  readonly onActive: (isActive: boolean) => void;
  readonly onDelete: () => void;
}

/** What can be done with a link. Administrators, who do not get the address of a link of others, may only delete it. */
export function linkMenu({ link, isQrShown = false, onChange, onQr, onActive, onDelete }: Wants): MenuItems {
  const remove = { label: t('delete'), icon: 'trash', isDanger: true, onSelect: onDelete } as const;
  if (link.url === null) return [remove];
  return [
    { label: t('change'), icon: 'edit', onSelect: onChange },
    { label: isQrShown ? t('hideQr') : t('showQr'), icon: 'qr', onSelect: onQr },
    link.is_active
      ? { label: t('switchOff'), icon: 'pause', onSelect: () => onActive(false) }
      : { label: t('switchOn'), icon: 'play', onSelect: () => onActive(true) },
    'separator',
    remove,
  ];
}
