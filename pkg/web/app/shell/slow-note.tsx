import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../../design/icon.tsx';
import { announce } from '../../design/live-region.tsx';
import { t } from '../../text/shell.ts';
import { useServices } from '../services.ts';
import { useObserved } from '../use-observed.ts';
import './slow-note.css';

/**
 * Says why nothing has come yet, while a request waits for its reply. It lies over the page and its dialogs, so that nothing
 * moves; a screen reader hears it once.
 */
export function SlowNote() {
  const { client } = useServices();
  const isSlow = useObserved(client.slow.isSlow);
  const isReachable = useObserved(client.isReachable);
  const isShown = isSlow && isReachable;
  const note = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => note.current?.showPopover(), [isShown]);
  useEffect(() => {
    if (isShown) announce(t('slow'));
  }, [isShown]);
  if (!isShown) return null;
  return (
    <p ref={note} popover="manual" class="slow-note" aria-hidden="true">
      <Icon name="recent" size="s" /> {t('slow')}
    </p>
  );
}
