import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Job } from '../../api/operations.generated.ts';
import { toasts } from '../../design/toasts.ts';
import { t } from '../../text/helpers.ts';
import { addEntryAction } from '../files/entry-actions.ts';
import { followJob } from '../jobs/follow-job.ts';
import { useClient, useMe } from '../services.ts';
import { endOf } from './end-of-job.ts';
import { type Asked, helperActions } from './helper-actions.ts';
import { OptimizeDialog } from './optimize-dialog.tsx';
import { TranslatePdfDialog } from './translate-pdf-dialog.tsx';
import { TranslateTextDialog } from './translate-text-dialog.tsx';
import { UnpackDialog } from './unpack-dialog.tsx';

/** Adds what helpers do to the menus of files. On every page it follows the jobs that were begun there, and says how they end. */
export function HelpersMenu() {
  const client = useClient();
  const { route } = useLocation();
  const { permissions, features } = useMe();
  const [asked, setAsked] = useState<Asked>();
  const gone = useRef(new AbortController());
  useEffect(() => () => gone.current.abort(), []);
  useEffect(() => {
    const removals = helperActions({ permissions, features }, setAsked).map(addEntryAction);
    return () => removals.forEach((remove) => remove());
  }, [permissions.join(), JSON.stringify(features)]);

  if (!asked) return null;
  const { entry, helper } = asked;
  const close = (): void => setAsked(undefined);
  const begun = (job: Job): void => {
    close();
    const action = { label: t('show'), onSelect: () => route(`/jobs/${job.id}`) };
    toasts.show({ text: t('begun', { name: entry.name }), action });
    followJob(client, job.id, () => undefined, gone.current.signal).then(
      (ended) => toasts.show({ ...endOf(ended, entry.name), action }),
      // Whoever signs out or loses the right to see it asks no more.
      () => undefined,
    );
  };
  switch (helper) {
    case 'translate-text':
      return <TranslateTextDialog entry={entry} onClose={close} />;
    case 'translate-pdf':
      return <TranslatePdfDialog entry={entry} onClose={close} onBegun={begun} />;
    case 'optimize':
      return <OptimizeDialog entry={entry} onClose={close} onBegun={begun} />;
    case 'unpack':
      return <UnpackDialog entry={entry} onClose={close} onBegun={begun} />;
    default:
      return helper satisfies never;
  }
}
