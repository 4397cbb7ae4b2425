import { useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from '../../../design/icon-button.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { t } from '../../../text/preview.ts';
import { type Find, HITS_MAX } from './use-find.ts';

interface Props {
  readonly find: Find;
  readonly onClose: () => void;
}

/** The field for words to find, and how many there are. */
export function FindBar({ find: { words, setWords, hits, now, step, isSearching }, onClose }: Props) {
  const field = useRef<HTMLInputElement>(null);
  // Before it is painted: who sees it may type at once.
  useLayoutEffect(() => field.current?.focus(), []);
  const press = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Enter' && event.target === field.current) step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  };
  return (
    <div class="pdf-find" role="search" onKeyDown={press}>
      <TextField
        label={t('find')}
        isLabelHidden
        icon="search"
        placeholder={t('find')}
        autocomplete="off"
        inputRef={field}
        value={words}
        onValue={setWords}
      />
      <span class="pdf-find-count" role="status">
        {words.trim() !== '' && countOf(hits.length, now === undefined ? 0 : hits.indexOf(now) + 1, isSearching)}
      </span>
      <IconButton icon="chevron-up" label={t('formerHit')} disabled={hits.length === 0} onClick={() => step(-1)} />
      <IconButton icon="chevron-down" label={t('nextHit')} disabled={hits.length === 0} onClick={() => step(1)} />
      <IconButton icon="close" label={t('endFind')} onClick={onClose} />
    </div>
  );
}

function countOf(total: number, number: number, isSearching: boolean): string {
  if (total === 0) return isSearching ? t('finding') : t('noHit');
  return total === HITS_MAX ? t('manyHits', { number, total }) : t('position', { number, total });
}
