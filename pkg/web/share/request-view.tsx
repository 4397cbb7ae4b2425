import { t } from '../text/share.ts';
import type { Link, SharedFolder } from './link.ts';
import { SendFiles } from './send-files.tsx';
import { Terms } from './terms.tsx';

interface Props {
  readonly link: Link;
  readonly folder: SharedFolder;
  readonly name: string;
}

/** A file request: people send files and see what they sent, and nothing else that is in the folder. */
export const RequestView = ({ link, folder, name }: Props) => (
  <main class="share-card share-request">
    <div>
      <h1 tabIndex={-1}>
        <bdi>{t('sendTo', { name })}</bdi>
      </h1>
      <p class="share-facts">{t('sendToText')}</p>
    </div>
    <SendFiles link={link} folder={folder} />
    <Terms end={folder.expires_at} left={folder.downloads_left} />
  </main>
);
