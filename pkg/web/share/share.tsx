import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { ApiProblem, problemOf } from '../api/problem.ts';
import { Dialog } from '../design/dialog.tsx';
import { RequestId } from '../design/request-id.tsx';
import { Status } from '../design/status.tsx';
import { useWhenOnline } from '../design/use-when-online.ts';
import { t } from '../text/share.ts';
import { FileView } from './file-view.tsx';
import { FolderView } from './folder-view.tsx';
import type { Link, Shared } from './link.ts';
import { PasswordForm } from './password-form.tsx';
import { ProblemNote } from './problem-note.tsx';
import { RequestView } from './request-view.tsx';
import { useOpen } from './use-open.ts';

interface Props {
  readonly link: Link;
  readonly first: Shared | ApiProblem;
  /** What was typed before the script ran, and what the server answered to a form that was sent without it. */
  readonly typed: string;
  readonly fault: string;
}

/** The page of a link: its password, then the file or the folder. */
export function Share({ link, first, typed, fault }: Props) {
  const [shown, setShown] = useState(first);
  const ask = (): void => void link.show().catch(problemOf).then(setShown);
  useWhenOnline(shown instanceof ApiProblem ? shown : undefined, ask);
  const isOpen = useOpen(link);
  /** What was asked for is not there: it, or the link. */
  const refused = async (problem: ApiProblem): Promise<void> => {
    if (problem.code !== 'not_found') return;
    await link.show().catch((error: unknown) => {
      if (problemOf(error).code === 'not_found') setShown(problemOf(error));
    });
  };
  const isDead = shown instanceof ApiProblem && shown.code === 'not_found';
  const title = isDead ? t('dead') : shown instanceof ApiProblem ? undefined : (shown.name ?? t('locked'));
  useEffect(() => {
    const tenant = document.querySelector('header.tenant')?.textContent;
    if (title !== undefined) document.title = tenant ? `${title} – ${tenant}` : title;
  }, [title]);

  const isFirst = shown === first;
  useLayoutEffect(() => {
    // What had the focus is gone.
    if (!isFirst) document.querySelector<HTMLElement>('main h1')?.focus();
  }, [shown]);

  return (
    <>
      {isDead ? (
        <main class="share-card">
          <h1 tabIndex={-1}>{t('dead')}</h1>
          <p>{t('whyDead')}</p>
          <RequestId id={shown instanceof ApiProblem ? shown.requestId : undefined} />
        </main>
      ) : shown instanceof ApiProblem ? (
        <main class="share-card">
          <h1 tabIndex={-1}>{t('failed')}</h1>
          <ProblemNote problem={shown} onRetry={ask} />
        </main>
      ) : shown.name === null ? (
        <main class="share-card">
          <h1 tabIndex={-1}>{t('locked')}</h1>
          <PasswordForm link={link} typed={typed} fault={fault} onOpen={setShown} onDead={setShown} />
        </main>
      ) : shown.kind === 'file' ? (
        <FileView link={link} file={shown} name={shown.name} onRefused={refused} />
      ) : shown.mode === 'upload' ? (
        <RequestView link={link} folder={shown} name={shown.name} />
      ) : (
        <FolderView link={link} folder={shown} name={shown.name} onRefused={refused} />
      )}
      {!isOpen && (
        <Dialog title={t('lockedAgain')} closeLabel="" size="s" isHeld onClose={() => undefined}>
          <PasswordForm link={link} typed="" fault="" onOpen={() => undefined} onDead={setShown} />
        </Dialog>
      )}
      <Status />
    </>
  );
}
