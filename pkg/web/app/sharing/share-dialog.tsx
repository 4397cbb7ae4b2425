import { useRef } from 'preact/hooks';
import { Notice } from '../../design/badge.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { t } from '../../text/sharing.ts';
import type { Entry } from '../files/entry.ts';
import { useClient } from '../services.ts';
import { useLoaded } from '../use-loaded.ts';
import { LinksSection } from './links-section.tsx';
import { PeopleSection } from './people-section.tsx';
import { readAccess } from './read-access.ts';
import './share-dialog.css';

/** Who has access to a file or folder, by which links, and how to give and take it. */
export function ShareDialog({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
  const client = useClient();
  const rounds = useRef(1);
  const access = useLoaded((signal) => readAccess(client, entry, rounds.current, signal), [entry.id]);
  const more = (): void => {
    rounds.current += 1;
    access.reload();
  };
  return (
    <Dialog title={t('title', { name: entry.name })} closeLabel={t('close')} onClose={onClose}>
      {access.problem?.status === 403 ? (
        <Notice>{t('notYours')}</Notice>
      ) : (
        <>
          <PeopleSection entry={entry} access={access} onMore={more} />
          <LinksSection entry={entry} />
        </>
      )}
    </Dialog>
  );
}
