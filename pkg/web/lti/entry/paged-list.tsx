import type { ComponentChildren } from 'preact';
import { Button } from '../../design/button.tsx';
import type { Listed } from './loaded.ts';
import { RefusalNote } from './notes.tsx';
import { t } from '../../text/lti.ts';

interface Props<Item> {
  readonly list: Listed<Item>;
  readonly label: string;
  readonly class?: string;
  /** The text for an empty list. */
  readonly empty: string;
  /** The text about the items so far. */
  readonly shown?: (items: readonly Item[], isMore: boolean) => string;
  readonly row: (item: Item) => ComponentChildren;
}

/** The loaded part of a list, a text about it, and a button for the rest. */
export function PagedList<Item>({ list, label, class: kind, empty, shown = () => '', row }: Props<Item>) {
  const { items, isMore, isBusy } = list;
  const loading = isBusy ? t('loading') : '';
  return (
    <>
      <p role="status">{!items ? loading : items.length === 0 ? empty : shown(items, isMore)}</p>
      {items && items.length > 0 && (
        <ul class={kind} aria-label={label}>
          {items.map(row)}
        </ul>
      )}
      <More list={list} />
    </>
  );
}

/** The button for the next page, or the refusal of the last one. */
export const More = <Item,>({
  list: { isMore, isBusy, refusal, next },
  text = t('showMore'),
}: {
  list: Listed<Item>;
  text?: string;
}) => (
  <>
    {refusal && <RefusalNote refusal={refusal} onRetry={next} />}
    {isMore && !refusal && (
      <p>
        <Button disabled={isBusy} onClick={next}>
          {text}
        </Button>
      </p>
    )}
  </>
);
