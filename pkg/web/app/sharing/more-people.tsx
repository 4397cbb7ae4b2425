import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { count, t } from '../../text/sharing.ts';

interface Props {
  /** The rows of the list above. */
  readonly loaded: number;
  readonly isMore: boolean;
  readonly isLoading: boolean;
  readonly onMore: () => void;
}

/** How many of those who have access are listed, and a button that lists more. Nothing where all are there from the beginning. */
export function MorePeople({ loaded, isMore, isLoading, onMore }: Props) {
  const [isAsked, setAsked] = useState(false);
  const text = useRef<HTMLParagraphElement>(null);
  // The button, which had the focus, goes once all are listed.
  useLayoutEffect(() => {
    if (isAsked && !isMore) text.current?.focus();
  }, [isMore]);
  if (!isMore && !isAsked) return null;
  return (
    <div class="share-more">
      <p ref={text} role="status" tabIndex={-1} class="share-quiet">
        {isMore ? count('loaded', loaded) : count('all', loaded)}
      </p>
      {isMore && (
        <Button
          kind="quiet"
          size="s"
          isBusy={isLoading}
          onClick={() => {
            setAsked(true);
            onMore();
          }}
        >
          {t('more')}
        </Button>
      )}
    </div>
  );
}
