import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { classes } from './classes.ts';
import { IconButton } from './icon-button.tsx';
import { Status } from './status.tsx';
import { holdsUnsent, onceDiscarded } from './unsent.ts';
import './drawer.css';

interface DrawerProps {
  readonly label: string;
  readonly closeLabel: string;
  readonly onClose: () => void;
  /** `start`: navigation. `end`: details. `bottom`: a list of actions on a phone. */
  readonly side?: 'start' | 'end' | 'bottom' | undefined;
  readonly children: ComponentChildren;
}

/** A modal sheet from one side, open as long as it is rendered: for what has its own column on a wide screen. */
export function Drawer({ label, closeLabel, onClose, side = 'start', children }: DrawerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  const close = (): void => onceDiscarded(dialog.current, onClose);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      isGone.current = true;
      shown?.close();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={classes('c-drawer', `c-drawer-${side}`)}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      // A second Escape without a click or a key between them closes it whatever the page has said to the first.
      onClose={() => {
        if (isGone.current) return;
        if (holdsUnsent(dialog.current)) dialog.current?.showModal();
        close();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) close(); // the backdrop
      }}
    >
      <div class="c-drawer-body">
        <IconButton icon="close" label={closeLabel} onClick={close} class="c-drawer-close" />
        {children}
      </div>
      <Status />
    </dialog>
  );
}

interface PanelProps {
  readonly title: string;
  readonly closeLabel: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A column beside the content that stays while one works: details of what is selected. */
export function SidePanel({ title, closeLabel, onClose, children }: PanelProps) {
  const panel = useRef<HTMLElement>(null);
  return (
    <aside ref={panel} class="c-panel" aria-label={title}>
      <header class="c-panel-head">
        <h2 class="c-panel-title">{title}</h2>
        <IconButton icon="close" label={closeLabel} onClick={() => onceDiscarded(panel.current, onClose)} />
      </header>
      <div class="c-panel-body">{children}</div>
    </aside>
  );
}
