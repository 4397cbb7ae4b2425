import { Badge } from '../../design/badge.tsx';
import { pageLocale } from '../../design/measures.tsx';
import type { Share } from '../../api/operations.generated.ts';
import { count, t } from '../../text/sharing.ts';
import { deadReasons } from './link-terms.ts';
import './link-facts.css';

/** What holders of a link may do. */
export function modeInWords({ file_id, mode }: Pick<Share, 'file_id' | 'mode'>): string {
  return file_id === null ? t(`what.${mode}`) : t('what.file');
}

/** Returns when a link ends, to the day. */
export function endInWords(expiresAt: string | null, now: Date): string {
  if (expiresAt === null) return t('terms.open');
  const end = new Date(expiresAt);
  const date = new Intl.DateTimeFormat(pageLocale(), { dateStyle: 'medium' }).format(end);
  return end <= now ? t('terms.ended', { date }) : t('terms.ends', { date });
}

export const downloadsInWords = ({ download_count, max_downloads }: Pick<Share, 'download_count' | 'max_downloads'>): string =>
  max_downloads === null
    ? count('terms.downloads', download_count)
    : t('terms.limit', { count: download_count, max: max_downloads });

/** Says why a link does not work and what can be done; nothing for one that works. */
export function DeadNote({ link, now }: { readonly link: Share; readonly now: Date }) {
  const reasons = deadReasons(link, now);
  if (reasons.length === 0) return null;
  return (
    <p class="share-dead">
      <Badge tone="warning" icon="alert">
        {t('dead')}
      </Badge>
      <span>{reasons.map((reason) => t(`dead.${reason}`)).join(' ')}</span>
    </p>
  );
}
