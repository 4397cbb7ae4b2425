import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { EndlessList } from '../../design/endless-list.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { t } from '../../text/sharing.ts';
import type { Entry } from '../files/entry.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient, useMe } from '../services.ts';
import { usePages } from '../use-pages.ts';
import { LinkCard } from './link-card.tsx';
import { LinkForm } from './link-form.tsx';
import { LinksOff } from './links-off.tsx';

/** The links of a file or folder. Those that do not work any more are shown too, with the reason. */
export function LinksSection({ entry }: { readonly entry: Entry }) {
  const client = useClient();
  const { features } = useMe();
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<string>();
  const heading = useRef<HTMLHeadingElement>(null);
  const [deleted, setDeleted] = useState(0);
  useEffect(() => {
    if (deleted > 0) focusHeading();
  }, [deleted]);
  /** What had the focus goes: a screen reader then reads on from here. */
  const focusHeading = (): void => heading.current?.focus();
  const links = usePages(
    (cursor, signal) => {
      const options = { path: { id: entry.id }, query: { limit: 50, cursor }, signal };
      return entry.type === 'file' ? client.get('/files/{id}/shares', options) : client.get('/folders/{id}/shares', options);
    },
    [entry.id],
  );
  return (
    <section class="share-section" aria-labelledby="share-links">
      <div class="share-section-head">
        <div>
          <h3 id="share-links" ref={heading} tabIndex={-1}>
            {t('links')}
          </h3>
          <p class="share-quiet">{t('linksText')}</p>
        </div>
        {features.share_links && !isMaking && (
          <Button size="s" icon="add" onClick={() => setMaking(true)}>
            {t('newLink')}
          </Button>
        )}
      </div>
      <LinksOff />
      {isMaking && (
        <LinkForm
          of={entry}
          onCancel={() => {
            focusHeading();
            setMaking(false);
          }}
          onDone={(link) => {
            setMaking(false);
            setMade(link.id);
            links.change((all) => [link, ...all]);
          }}
        />
      )}
      {links.problem && <ProblemNote problem={links.problem} onRetry={links.more} />}
      {!links.items && !links.problem && <Skeleton label={t('loading')} />}
      {links.items?.length === 0 && !isMaking && features.share_links && <p class="share-quiet">{t('noLinks')}</p>}
      {links.items && (
        <EndlessList
          isMore={links.isMore}
          isLoading={links.isLoading}
          hasFailed={links.problem !== undefined}
          moreLabel={t('more')}
          onMore={links.more}
        >
          <ul role="list" class="share-links">
            {links.items.map((link) => (
              <LinkCard
                key={link.id}
                link={link}
                isNew={link.id === made}
                onChange={(changed) => links.change((all) => all.map((one) => (one.id === changed.id ? changed : one)))}
                onDelete={() => {
                  links.change((all) => all.filter(({ id }) => id !== link.id));
                  setDeleted((count) => count + 1);
                }}
              />
            ))}
          </ul>
        </EndlessList>
      )}
    </section>
  );
}
