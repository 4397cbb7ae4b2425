import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Drawer } from '../../design/drawer.tsx';
import { Spinner } from '../../design/progress.tsx';
import { t } from '../../text/shell.ts';
import { FailurePage } from '../failure-page.tsx';
import { MeContext, useServices } from '../services.ts';
import { EndedDialog } from '../sign-in/ended-dialog.tsx';
import { useLater } from '../use-later.ts';
import { useLoaded } from '../use-loaded.ts';
import { useObserved } from '../use-observed.ts';
import { ConnectionNote } from './connection-note.tsx';
import { Header } from './header.tsx';
import { Navigation } from './navigation.tsx';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';
import { shortcuts } from './shortcuts.ts';
import { slots } from './slots.ts';
import { useShortcuts } from './use-shortcuts.ts';
import './shell.css';

/** What surrounds each route while somebody is signed in. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const { client, session } = useServices();
  const state = useObserved(session.state);
  const userId = 'user' in state ? state.user.id : undefined;
  const { value: welcome, problem, reload } = useLoaded((signal) => client.get('/me', { signal }), [userId]);
  const Panel = useObserved(slots.panel);
  const overlays = useObserved(slots.overlays);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isListOpen, setListOpen] = useState(false);
  const [PasswordDialog, loadPassword] = useLater(async () => (await import('./password-dialog.tsx')).PasswordDialog);
  const [isChanging, setChanging] = useState(false);
  const main = useFocusOnNewPage(() => setMenuOpen(false));

  useEffect(() => {
    const press = (event: KeyboardEvent): void => shortcuts.press(event);
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
  useShortcuts(
    {
      title: t('shortcuts.everywhere'),
      shortcuts: [
        { keys: '?', label: t('shortcuts.show'), run: () => setListOpen(true) },
        { keys: 'm', label: t('shortcuts.menu'), run: focusNavigation },
      ],
    },
    [],
  );

  const changePassword = (): void => void loadPassword().then(setChanging);
  const ended = state.name === 'ended' && <EndedDialog user={state.user} />;
  if (!welcome)
    return (
      <>
        {problem ? <FailurePage problem={problem} onRetry={reload} /> : <Spinner label={t('loading')} />}
        {ended}
      </>
    );
  return (
    <MeContext.Provider value={{ ...welcome, reload }}>
      <div class="shell">
        <a class="shell-skip" href="#main">
          {t('skip')}
        </a>
        <Header onMenu={() => setMenuOpen(true)} onShortcuts={() => setListOpen(true)} onPassword={changePassword} />
        <ConnectionNote />
        <div class="shell-side">
          <Navigation />
        </div>
        <main id="main" ref={main} class="shell-main" tabIndex={-1}>
          {children}
        </main>
        {Panel && <Panel />}
        {overlays.map((Overlay, index) => (
          <Overlay key={index} />
        ))}
      </div>
      {isMenuOpen && (
        <Drawer label={t('menu')} closeLabel={t('closeMenu')} onClose={() => setMenuOpen(false)}>
          <Navigation />
        </Drawer>
      )}
      {isChanging && PasswordDialog && <PasswordDialog onClose={() => setChanging(false)} />}
      {isListOpen && <ShortcutsDialog onClose={() => setListOpen(false)} />}
      {ended}
    </MeContext.Provider>
  );
}

/** The first link of the navigation beside the content; on a phone it is behind the menu button. */
function focusNavigation(): void {
  const link = document.querySelector<HTMLElement>('.shell-side a');
  if (link?.checkVisibility()) link.focus();
  else document.querySelector<HTMLElement>('.header-menu')?.click();
}

/**
 * Moves the focus to the content when another page is shown: a screen reader then reads from its beginning. Within one page (from
 * folder to folder) the page decides. Whoever types into the header's search goes on typing while its page opens.
 */
function useFocusOnNewPage(onNewPage: () => void) {
  const { path } = useLocation();
  const section = path.split('/')[1];
  const main = useRef<HTMLElement>(null);
  const shown = useRef(section);
  useEffect(() => {
    if (shown.current === section) return;
    shown.current = section;
    onNewPage();
    if (document.activeElement?.matches('header input')) return;
    main.current?.focus({ preventScroll: true });
  }, [section]);
  return main;
}
