import { render } from 'preact';
import { connect } from '../api/browser.ts';
import { Client } from '../api/client.ts';
import { isAnswering } from '../api/ping.ts';
import { type ApiProblem, problemOf, sayFieldsBy } from '../api/problem.ts';
import '../design/index.css';
import { toasts } from '../design/toasts.ts';
import { forgetUnsent, watchForms } from '../design/unsent.ts';
import { App } from './app.tsx';
import { t } from '../text/shell.ts';
import { watchStyles } from './late-styles.ts';
import { leave, onLeave } from './leaving.ts';
import { applyPreferences, language } from './preferences.ts';
import { PreviewHost } from './preview/host.tsx';
import { problemText } from './problem-text.ts';
import { loadPageAt } from './routes.tsx';
import { watchHistory } from './shell/history-guard.ts';
import { keepFocus } from './shell/kept-focus.ts';
import { firstView } from './shell/first-view.ts';
import { slots } from './shell/slots.ts';
import { Sharing } from './sharing/sharing.tsx';
import { keepEarlyDrops } from './uploads/early-drops.ts';
import { forgetAtEarlySignOut } from './uploads/early-sign-out.ts';
import { loadedLater } from './use-later.ts';
import { useObserved } from './use-observed.ts';

const services = {
  ...connect(),
  anonymous: new Client({ current: () => Promise.resolve(undefined), renewed: () => Promise.resolve(undefined) }),
};

onLeave(() => toasts.clear());
onLeave(forgetUnsent);
forgetAtEarlySignOut(services.session);
services.session.state.subscribe(() => {
  if (services.session.state.value.name === 'signed-out') leave();
});

/** All texts are read while rendering: another language renders everything again, in its place, so that what is typed stays. */
const InLanguage = () => <App language={useObserved(language)} services={services} />;

/**
 * Asks for the session, the script of the page and its texts at once: each takes a round trip. It is no top-level `await`: what
 * it loads imports this script, and would wait for it.
 */
async function start(root: Element): Promise<void> {
  keepEarlyDrops();
  watchForms();
  watchHistory();
  keepFocus();
  watchStyles();
  slots.overlays.set([PreviewHost, Sharing]);
  services.session.start().catch(() => undefined); // the app starts it again, and shows why it fails
  void loadPageAt(location.pathname);
  await applyPreferences();
  render(<InLanguage />, root);
  await Promise.race([firstView, firstInput()]);
  await addLateParts();
}

/** Resolves when somebody enters something: what asks before that is lost must then be there soon, whatever the list does. */
const firstInput = (): Promise<unknown> =>
  new Promise((resolve) => document.addEventListener('input', resolve, { capture: true, once: true }));

/**
 * Loads what the first view does not need. On a slow line its bytes would otherwise come before the first list. Where no server
 * answers, it is loaded once there is a connection.
 */
async function addLateParts(): Promise<void> {
  try {
    const [{ fieldText, ownFieldText }, { UnsentQuestion }, { Uploads }, { HelpersMenu }] = await loadedLater(() =>
      Promise.all([
        import('./field-text.ts'),
        import('./shell/unsent-question.tsx'),
        import('./uploads/uploads.tsx'),
        import('./helpers-menu/helpers-menu.tsx'),
      ]),
    );
    sayFieldsBy({ own: ownFieldText, any: fieldText });
    slots.panel.set(Uploads);
    slots.overlays.set([...slots.overlays.value, HelpersMenu, UnsentQuestion]);
  } catch (error) {
    askLater(problemOf(error));
  }
}

function askLater(problem: ApiProblem): void {
  const isAway = problem.code === 'unreachable';
  const ask = async (): Promise<void> => {
    if (!isAway && (await isAnswering())) location.reload();
    else await addLateParts();
  };
  const again = (): void => {
    removeEventListener('online', again);
    toasts.close(toast);
    void ask();
  };
  const action = { label: t('failure.retry'), onSelect: again };
  const toast = toasts.show({ text: problemText(problem), tone: 'danger', action });
  if (isAway) addEventListener('online', again);
}

const root = document.querySelector('#app');
if (root) void start(root);
