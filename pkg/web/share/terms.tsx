import { pageLocale } from '../design/measures.tsx';
import { timeIn } from '../design/format.ts';
import { count, t } from '../text/share.ts';

interface Props {
  /** ISO 8601; null: never. */
  readonly end: string | null;
  /** Downloads; null: as many as anybody likes. */
  readonly left: number | null;
}

/** Until when and how often the link works. */
export function Terms({ end, left }: Props) {
  if (end === null && left === null) return null;
  return (
    <p class="share-facts">
      {end !== null && <time dateTime={end}>{t('ends', { when: timeIn(pageLocale(), new Date(end)) })}</time>}{' '}
      {left === 0 ? t('usedUp') : left !== null && count('left', left)}
    </p>
  );
}
