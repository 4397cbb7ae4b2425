import { type RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** The rectangle of the screen beside which something opens: of a button, or of the place of a click. */
export interface Anchor {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const GAP = 4;
const EDGE = 8;

/**
 * Shows an element above all others beside `anchor` as long as it is mounted: below it, or above where there is more space. The
 * browser closes it at Escape and at a click elsewhere, and `onClose` is called. When it goes, the focus returns to where it was.
 */
export function usePopover(anchor: Anchor, align: 'start' | 'end', onClose: () => void): RefObject<HTMLDivElement | null> {
  const ref = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(() => {
    const shown = ref.current;
    if (!shown) return undefined;
    const before = document.activeElement;
    let isGone = false;
    const toggled = (event: Event): void => {
      if ((event as ToggleEvent).newState === 'closed' && !isGone) close.current();
    };
    shown.showPopover();
    position(shown, anchor, align);
    shown.addEventListener('toggle', toggled);
    // What it stood beside is somewhere else then.
    const resized = (): void => close.current();
    window.addEventListener('resize', resized);
    return () => {
      isGone = true;
      const isWithin = shown.contains(document.activeElement) || document.activeElement === document.body;
      shown.removeEventListener('toggle', toggled);
      window.removeEventListener('resize', resized);
      if (shown.matches(':popover-open')) shown.hidePopover();
      if (isWithin && before instanceof HTMLElement && before.isConnected) before.focus();
    };
    // The anchor is where it was when this opened.
  }, []);
  return ref;
}

function position(shown: HTMLElement, anchor: Anchor, align: 'start' | 'end'): void {
  const { offsetWidth: width, offsetHeight: height } = shown;
  const { clientWidth, clientHeight } = document.documentElement;
  const isAtRight = (align === 'end') !== (getComputedStyle(shown).direction === 'rtl');
  const left = isAtRight ? anchor.right - width : anchor.left;
  const below = anchor.bottom + GAP;
  const isBelow = below + height <= clientHeight - EDGE || clientHeight - anchor.bottom >= anchor.top;
  const top = isBelow ? below : anchor.top - GAP - height;
  shown.style.left = `${Math.max(EDGE, Math.min(left, clientWidth - width - EDGE))}px`;
  shown.style.top = `${Math.max(EDGE, top)}px`;
  shown.style.maxHeight = `${isBelow ? clientHeight - Math.max(EDGE, top) - EDGE : anchor.top - GAP - EDGE}px`;
}
