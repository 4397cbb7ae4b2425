import { IconButton } from '../../design/icon-button.tsx';
import { t } from '../../text/shell.ts';
import { useMe } from '../services.ts';
import { useObserved } from '../use-observed.ts';
import { AccountMenu } from './account-menu.tsx';
import { slots } from './slots.ts';
import './header.css';

interface Props {
  readonly onMenu: () => void;
  readonly onShortcuts: () => void;
  readonly onPassword: () => void;
}

/** Whose files these are, the field to search, and the account. */
export function Header({ onMenu, onShortcuts, onPassword }: Props) {
  const { tenant } = useMe();
  const Search = useObserved(slots.search);
  return (
    <header class="header">
      <IconButton icon="menu" label={t('menu')} class="header-menu" onClick={onMenu} />
      <a class="header-tenant" href="/">
        {tenant.display_name}
      </a>
      <div class="header-search">{Search && <Search />}</div>
      <AccountMenu onShortcuts={onShortcuts} onPassword={onPassword} />
    </header>
  );
}
