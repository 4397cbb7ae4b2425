import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, problemOf } from '../api/problem.ts';
import { LiveRegion } from '../design/live-region.tsx';
import { t } from '../text/share.ts';
import { FileView } from './file-view.tsx';
import { FolderView } from './folder-view.tsx';
import type { Link, Shared } from './link.ts';
import { PasswordForm } from './password-form.tsx';
import { ProblemNote } from './problem-note.tsx';

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
  /** A request was refused: the link has ended, its password has changed, or it is nothing of the link. */
  const refused = async (problem: ApiProblem): Promise<void> => {
    if (problem.code === 'share_password_required') ask();
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

  return (
    <>
      {isDead ? (
        <main class="share-card">
          <h1>{t('dead')}</h1>
          <p>{t('whyDead')}</p>
        </main>
      ) : shown instanceof ApiProblem ? (
        <main class="share-card">
          <h1>{t('failed')}</h1>
          <ProblemNote problem={shown} onRetry={ask} />
        </main>
      ) : shown.name === null ? (
        <main class="share-card">
          <h1>{t('locked')}</h1>
          <PasswordForm link={link} typed={typed} fault={fault} onOpen={setShown} onDead={setShown} />
        </main>
      ) : shown.kind === 'file' ? (
        <FileView link={link} file={shown} name={shown.name} onRefused={refused} />
      ) : (
        <FolderView link={link} folder={shown} name={shown.name} onRefused={refused} />
      )}
      <LiveRegion />
    </>
  );
}
