import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { Icon } from '../../design/icon.tsx';
import { Progress } from '../../design/progress.tsx';
import { t } from '../../text/shell.ts';
import { ROUTES } from '../routes.tsx';
import { useMe } from '../services.ts';
import { sizeInWords } from '../size-in-words.ts';
import { useLater } from '../use-later.ts';
import './navigation.css';

/** The pages of the app that the person may use, and how full their storage is. */
export function Navigation() {
  const { path } = useLocation();
  const { permissions, features, quota } = useMe();
  const [isStorageOpen, setStorageOpen] = useState(false);
  const [Storage, loadStorage] = useLater(async () => (await import('../files/storage-dialog.tsx')).StorageDialog);
  const items = ROUTES.flatMap(({ path: pattern, nav }) => {
    if (!nav || (nav.permission !== undefined && !permissions.includes(nav.permission))) return [];
    if (nav.feature !== undefined && !features[nav.feature]) return [];
    const section = pattern.split('/')[1];
    return [{ ...nav, isHere: path.split('/')[1] === section || path === nav.href }];
  });
  const used = t('quota.used', { used: sizeInWords(quota.used), limit: sizeInWords(quota.limit) });
  return (
    <nav class="navigation" aria-label={t('navigation')}>
      <ul role="list">
        {items.map(({ href, label, icon, isHere }) => (
          <li key={href}>
            <a href={href} class="navigation-link" {...(isHere ? { 'aria-current': 'page' as const } : {})}>
              <Icon name={icon} />
              {t(label)}
            </a>
          </li>
        ))}
      </ul>
      <button
        type="button"
        class="navigation-quota"
        aria-haspopup="dialog"
        onClick={() => void loadStorage().then(setStorageOpen)}
      >
        <Progress value={quota.used} max={Math.max(quota.limit, 1)} />
        <span>
          <span class="c-hidden">{t('quota.label')}: </span>
          {used}
        </span>
      </button>
      {isStorageOpen && Storage && <Storage onClose={() => setStorageOpen(false)} />}
    </nav>
  );
}
