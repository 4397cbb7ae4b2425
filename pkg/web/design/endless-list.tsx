import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import './endless-list.css';

interface Props {
  readonly children: ComponentChildren;
  readonly isMore: boolean;
  readonly isLoading: boolean;
  /** The last page could not be loaded: only the button asks again. */
  readonly hasFailed?: boolean | undefined;
  readonly moreLabel: string;
  readonly onMore: () => void;
}

/** A list that loads its next page as its end comes near. A button does the same, for a keyboard and after a failure. */
export function EndlessList({ children, isMore, isLoading, hasFailed = false, moreLabel, onMore }: Props) {
  const end = useRef<HTMLDivElement>(null);
  const more = useRef(onMore);
  more.current = onMore;
  useEffect(() => {
    if (!end.current || !isMore || isLoading || hasFailed) return undefined;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) more.current();
      },
      { rootMargin: '400px' },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isMore, isLoading, hasFailed]);
  return (
    <>
      {children}
      {isMore && (
        <div ref={end} class="c-endless-end">
          <Button kind="quiet" isBusy={isLoading} onClick={onMore}>
            {moreLabel}
          </Button>
        </div>
      )}
    </>
  );
}
