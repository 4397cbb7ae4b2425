import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';
import './tabs.css';

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly icon?: IconName | undefined;
  /** How many there are; shown behind the label. */
  readonly count?: number | undefined;
}

interface Props {
  /** What the tabs are of, read aloud. */
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly selected: string;
  readonly onSelect: (id: string) => void;
  /** The content of the selected tab. */
  readonly children: ComponentChildren;
}

/** Parts of one thing, of which one is shown. The arrows choose; Tab goes on to the content. */
export function Tabs({ label, tabs, selected, onSelect, children }: Props) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const at = tabs.findIndex((tab) => tab.id === selected);
    const isRtl = list.current !== null && getComputedStyle(list.current).direction === 'rtl';
    const ahead = isRtl ? 'ArrowLeft' : 'ArrowRight';
    const back = isRtl ? 'ArrowRight' : 'ArrowLeft';
    const ways: Readonly<Record<string, number>> = { [ahead]: at + 1, [back]: at - 1, Home: 0, End: -1 };
    const target = tabs.at((ways[event.key] ?? at) % tabs.length);
    if (ways[event.key] === undefined || !target) return;
    event.preventDefault();
    onSelect(target.id);
    list.current?.querySelector<HTMLElement>(`#${CSS.escape(`${id}-${target.id}`)}`)?.focus();
  };
  return (
    <div class="c-tabs">
      <div ref={list} role="tablist" aria-label={label} class="c-tabs-list" onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${id}-${tab.id}`}
            type="button"
            role="tab"
            class="c-tab"
            aria-selected={tab.id === selected}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === selected ? 0 : -1}
            onClick={() => onSelect(tab.id)}
          >
            {tab.icon && <Icon name={tab.icon} size="s" />}
            {tab.label}
            {tab.count !== undefined && <span class="c-tab-count">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${selected}`} class="c-tabs-panel" tabIndex={0}>
        {children}
      </div>
    </div>
  );
}
