import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';

/** Returns the handlers by which a mouse drags what is larger than its box. Fingers scroll without them. */
export function usePanning(box: RefObject<HTMLElement | null>, isOn: boolean) {
  const start = useRef<{ readonly x: number; readonly y: number } | undefined>(undefined);
  return {
    onPointerDown: (event: PointerEvent): void => {
      if (!isOn || event.button !== 0 || event.pointerType !== 'mouse' || !box.current) return;
      box.current.setPointerCapture(event.pointerId);
      start.current = { x: event.clientX + box.current.scrollLeft, y: event.clientY + box.current.scrollTop };
    },
    onPointerMove: (event: PointerEvent): void => {
      if (start.current) box.current?.scrollTo(start.current.x - event.clientX, start.current.y - event.clientY);
    },
    onPointerUp: (): void => void (start.current = undefined),
    onPointerCancel: (): void => void (start.current = undefined),
  };
}
