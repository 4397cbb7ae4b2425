import { Checkbox } from '../checkbox.tsx';
import { classes } from '../classes.ts';
import { Icon } from '../icon.tsx';
import type { Sorting } from './grid-props.ts';
import { countOf, EVERYTHING, isEmpty, NOTHING, type Selection } from './selection.ts';

interface Heading {
  readonly key: string;
  readonly label: string;
  readonly isSortable?: boolean | undefined;
  readonly isLabelHidden?: boolean | undefined;
  readonly isAtEnd?: boolean | undefined;
}

interface Props {
  readonly columns: readonly Heading[];
  readonly sorting: Sorting | undefined;
  readonly onSort: ((key: string) => void) | undefined;
  readonly selection: Selection;
  readonly total: number | undefined;
  readonly selectAllLabel: string;
  readonly onSelection: (selection: Selection) => void;
  /** The attributes of the heading of a column, by which the keyboard finds it. */
  readonly cellProps: (column: number) => object;
}

/** The headings of a grid: the box that selects all, and the names by which to sort. */
export function GridHead({ columns, sorting, onSort, selection, total, selectAllLabel, onSelection, cellProps }: Props) {
  const isAll =
    selection.kind === 'all'
      ? selection.except.size === 0
      : total !== undefined && total > 0 && countOf(selection, total) === total;
  const toggle = (): void => onSelection(isAll ? NOTHING : EVERYTHING);
  return (
    <thead role="rowgroup" class="c-grid-head">
      <tr role="row" aria-rowindex={1} class="c-grid-row">
        <th
          role="columnheader"
          scope="col"
          class="c-grid-cell c-grid-check"
          {...cellProps(0)}
          onKeyDown={(event) => onEnterOrSpace(event, toggle)}
        >
          <Checkbox
            isLabelHidden
            label={selectAllLabel}
            isChecked={isAll}
            isMixed={!isAll && !isEmpty(selection)}
            tabIndex={-1}
            onChange={toggle}
          />
        </th>
        {columns.map(({ key, label, isSortable = false, isLabelHidden = false, isAtEnd = false }, index) => {
          const isSorted = sorting?.key === key;
          const order = isSorted ? (sorting.isDescending ? 'descending' : 'ascending') : 'none';
          return (
            <th
              key={key}
              role="columnheader"
              scope="col"
              class={classes('c-grid-cell', isAtEnd && 'c-grid-end', `c-grid-of-${key}`)}
              {...(isSortable ? { 'aria-sort': order as 'none' } : {})}
              {...cellProps(index + 1)}
              onKeyDown={(event) => {
                if (isSortable) onEnterOrSpace(event, () => onSort?.(key));
              }}
            >
              {isSortable ? (
                <button type="button" class="c-grid-sort" tabIndex={-1} onClick={() => onSort?.(key)}>
                  {label}
                  {isSorted && <Icon name={sorting.isDescending ? 'chevron-down' : 'chevron-up'} size="s" />}
                </button>
              ) : (
                <span class={isLabelHidden ? 'c-hidden' : undefined}>{label}</span>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function onEnterOrSpace(event: KeyboardEvent, action: () => void): void {
  if (event.key !== 'Enter' && event.key !== ' ') return;
  event.preventDefault();
  event.stopPropagation();
  action();
}
