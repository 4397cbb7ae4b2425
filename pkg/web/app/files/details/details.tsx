import { useState } from 'preact/hooks';
import { Drawer, SidePanel } from '../../../design/drawer.tsx';
import { useMedia } from '../../../design/media.ts';
import { type Tab, Tabs } from '../../../design/tabs.tsx';
import { t } from '../../../text/files.ts';
import { useMay } from '../../services.ts';
import type { Entry } from '../entry.ts';
import { Thumbnail } from '../thumbnails/thumbnail.tsx';
import type { FileActions } from '../use-file-actions.tsx';
import { Access } from './access.tsx';
import { Activity } from './activity.tsx';
import { Facts } from './facts.tsx';
import { Versions } from './versions.tsx';
import './details.css';

interface Props {
  readonly entry: Entry;
  readonly actions: FileActions;
  readonly onClose: () => void;
  /** Something in it was changed: the list is to be read again. */
  readonly onChange: () => void;
}

/** Beside the list there is a column for it; on smaller screens it comes from the side. */
const HAS_COLUMN = '(min-width: 75rem)';

/** What is known of an entry: facts and tags, its versions, and who has access. */
export function Details({ entry, actions, onClose, onChange }: Props) {
  const [tab, setTab] = useState('facts');
  const isColumn = useMedia(HAS_COLUMN);
  const mayAudit = useMay('read:audit');
  const isFile = entry.type === 'file';
  const tabs: (Tab | false)[] = [
    { id: 'facts', label: t('facts') },
    isFile && { id: 'versions', label: t('versions') },
    { id: 'access', label: t('access') },
    mayAudit && { id: 'activity', label: t('activity') },
  ];
  const shown = tabs.filter((each) => each !== false);
  const selected = shown.some(({ id }) => id === tab) ? tab : 'facts';
  const content = (
    <div class="files-details" key={entry.id}>
      <Thumbnail entry={entry} />
      <Tabs label={t('detailsOf', { name: entry.name })} tabs={shown} selected={selected} onSelect={setTab}>
        {selected === 'facts' && <Facts entry={entry} actions={actions} onLeave={isColumn ? undefined : onClose} />}
        {selected === 'versions' && <Versions entry={entry} onChange={onChange} />}
        {selected === 'access' && <Access entry={entry} />}
        {selected === 'activity' && <Activity entry={entry} />}
      </Tabs>
    </div>
  );
  if (isColumn)
    return (
      <SidePanel title={entry.name} closeLabel={t('closeDetails')} onClose={onClose}>
        {content}
      </SidePanel>
    );
  return (
    <Drawer label={entry.name} closeLabel={t('closeDetails')} side="end" onClose={onClose}>
      <h2 class="files-details-title">{entry.name}</h2>
      {content}
    </Drawer>
  );
}
