import { useLocation } from 'preact-iso';
import { Avatar } from '../../design/avatar.tsx';
import { Menu, type MenuItem, type MenuItems } from '../../design/menu.tsx';
import { type Language, LANGUAGES } from '../../text/language.ts';
import { t } from '../../text/shell.ts';
import { failureToast } from '../failure-toast.ts';
import { chooseLanguage, chooseTheme, language, type Theme, theme, THEMES } from '../preferences.ts';
import { useMe, useServices } from '../services.ts';
import { useObserved } from '../use-observed.ts';
import './account-menu.css';

const REFERENCE = '/api/v1/reference';
/** Who has come by launches alone has no password. */
const OF_LAUNCHES = '@lti.invalid';

interface Props {
  readonly onShortcuts: () => void;
  readonly onPassword: () => void;
}

/** Who is signed in; how the page looks and speaks; help; the password; signing out. */
export function AccountMenu({ onShortcuts, onPassword }: Props) {
  const { session } = useServices();
  const { user } = useMe();
  const { route } = useLocation();
  const [worn, spoken] = [useObserved(theme), useObserved(language)];
  const name = user.display_name ?? user.username;

  const signOut = async (): Promise<void> => {
    try {
      await session.signOut();
    } catch (error) {
      failureToast(error);
    }
    route('/sign-in');
  };
  const themeItem = (one: Theme): MenuItem => ({
    label: t(`theme.${one}`),
    isChecked: one === worn,
    onSelect: () => chooseTheme(one),
  });
  const languageItem = (one: Language): MenuItem => ({
    label: LANGUAGES[one],
    isChecked: one === spoken,
    onSelect: () => void chooseLanguage(one),
  });
  const items: MenuItems = [
    ...THEMES.map(themeItem),
    'separator',
    ...(Object.keys(LANGUAGES) as Language[]).map(languageItem),
    'separator',
    { label: t('account.shortcuts'), icon: 'keyboard', shortcut: '?', onSelect: onShortcuts },
    { label: t('account.reference'), icon: 'code', onSelect: () => location.assign(REFERENCE) },
    'separator',
    ...(user.email.endsWith(OF_LAUNCHES) ? [] : [{ label: t('account.password'), icon: 'key' as const, onSelect: onPassword }]),
    { label: t('account.signOut'), icon: 'sign-out', onSelect: () => void signOut() },
  ];
  return (
    <Menu
      label={t('account.menu', { name })}
      items={items}
      align="end"
      trigger={(props) => (
        <button type="button" class="account-button" title={user.email} {...props}>
          <span class="c-hidden">{t('account.menu', { name })}</span>
          <Avatar name={name} />
        </button>
      )}
    />
  );
}
