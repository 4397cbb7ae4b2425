import { Component, type ComponentChildren } from 'preact';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../api/problem.ts';
import { LiveRegion } from '../design/live-region.tsx';
import { Spinner } from '../design/progress.tsx';
import { RequestTextsContext } from '../design/request-id.tsx';
import { Status, StatusContext } from '../design/status.tsx';
import { ToastArea } from '../design/toast.tsx';
import type { Language } from '../text/language.ts';
import { t } from '../text/shell.ts';
import { Failure, FailurePage } from './failure-page.tsx';
import { loadAnew } from './load-anew.ts';
import { NotFoundPage } from './not-found-page.tsx';
import { requestTexts } from './request-texts.ts';
import { IN_APP, ROUTES } from './routes.tsx';
import { type Services, ServicesContext, useServices } from './services.ts';
import { Shell } from './shell/shell.tsx';
import { SlowNote } from './shell/slow-note.tsx';
import { ResetPage } from './sign-in/reset-page.tsx';
import { SignInPage } from './sign-in/sign-in-page.tsx';
import { useLoaded } from './use-loaded.ts';
import { useObserved } from './use-observed.ts';

interface Props {
  readonly services: Services;
  readonly language: Language;
}

/** The whole app: who is signed in decides what is shown, then the address. */
export const App = ({ services, language }: Props) => (
  <ServicesContext.Provider value={services}>
    <RequestTextsContext.Provider value={requestTexts}>
      <StatusContext.Provider value={Said}>
        <Boundary Failed={FailurePage}>
          <LocationProvider scope={IN_APP}>
            <Start language={language} />
          </LocationProvider>
        </Boundary>
        <SlowNote />
        <Status />
      </StatusContext.Provider>
    </RequestTextsContext.Provider>
  </ServicesContext.Provider>
);

const Said = ({ isTopmost }: { readonly isTopmost: boolean }) => (
  <>
    <LiveRegion isTopmost={isTopmost} />
    <ToastArea isTopmost={isTopmost} label={t('notifications')} closeLabel={t('close')} />
  </>
);

function Start({ language }: Pick<Props, 'language'>) {
  const { session } = useServices();
  const { path, route } = useLocation();
  const { name } = useObserved(session.state);
  const { problem, isLoading, reload } = useLoaded(() => session.start(), [session]);
  const isSignedIn = name === 'signed-in' || name === 'ended';
  useEffect(() => {
    if (isSignedIn && path === '/sign-in') route('/', true);
  }, [isSignedIn, path]);

  if (path === '/reset') return <ResetPage />;
  if (name === 'starting') {
    if (problem) return <FailurePage problem={problem} onRetry={reload} />;
    return isLoading ? <Spinner label={t('loading')} /> : null;
  }
  if (!isSignedIn) return <SignInPage />;
  // The router renders a page again only for another address, or other values of its route.
  const spoken = { language };
  return (
    <Shell>
      <Boundary Failed={Failure} path={path}>
        <Router>
          {ROUTES.map(({ path: at, page }) => (
            <Route key={at} path={at} component={page} {...spoken} />
          ))}
          <Route default component={NotFoundPage} {...spoken} />
        </Router>
      </Boundary>
    </Shell>
  );
}

interface BoundaryProps {
  readonly children: ComponentChildren;
  readonly Failed: typeof FailurePage;
  /** Another one is tried again. */
  readonly path?: string;
}

/** Shows an error of what it surrounds in its place. */
class Boundary extends Component<BoundaryProps, { readonly problem?: ApiProblem | undefined }> {
  override state: { readonly problem?: ApiProblem | undefined } = {};

  override componentDidCatch(error: unknown): void {
    this.setState({ problem: problemOf(error) });
  }

  override componentDidUpdate({ path }: BoundaryProps): void {
    if (this.state.problem && path !== this.props.path) this.setState({ problem: undefined });
  }

  override render() {
    const { problem } = this.state;
    const { Failed, children } = this.props;
    return problem ? <Failed problem={problem} onRetry={() => void loadAnew()} /> : children;
  }
}
