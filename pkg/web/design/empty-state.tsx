import type { ComponentChildren, VNode } from 'preact';
import './empty-state.css';

/** Drawings of 160 × 112 units: soft ground, outlines, one thing in the accent. */
const DRAWINGS = {
  files: (
    <>
      <path class="c-draw-line" d="M38 40a5 5 0 0 1 5-5h22l9 10h43a5 5 0 0 1 5 5v36a5 5 0 0 1-5 5H43a5 5 0 0 1-5-5z" />
      <path class="c-draw-accent" d="M80 82V60M70 68l10-10 10 10" />
    </>
  ),
  search: (
    <>
      <path
        class="c-draw-line"
        d="M52 30h40l14 14v46a4 4 0 0 1-4 4H52a4 4 0 0 1-4-4V34a4 4 0 0 1 4-4zM92 30v14h14M60 56h18M60 68h12"
      />
      <path class="c-draw-accent" d="M98 86a13 13 0 1 0 0-26 13 13 0 0 0 0 26zM107.5 82.5l12 12" />
    </>
  ),
  trash: (
    <>
      <path
        class="c-draw-line"
        d="M52 42h56M70 42v-6a4 4 0 0 1 4-4h12a4 4 0 0 1 4 4v6M57 42l3 46a5 5 0 0 0 5 5h30a5 5 0 0 0 5-5l3-46"
      />
      <path class="c-draw-accent" d="M70 70l7 7 14-15" />
    </>
  ),
  shared: (
    <>
      <path
        class="c-draw-line"
        d="M62 58a11 11 0 1 0 0-22 11 11 0 0 0 0 22zM40 90c1-13 9-20 22-20s21 7 22 20M98 56a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM92 68c2-1 4-1.5 6-1.5 10 0 17 6 18 17"
      />
      <path class="c-draw-accent" d="M118 30v14M111 37h14" />
    </>
  ),
  done: (
    <>
      <path class="c-draw-line" d="M46 36h68a5 5 0 0 1 5 5v46a5 5 0 0 1-5 5H46a5 5 0 0 1-5-5V41a5 5 0 0 1 5-5zM41 48h78" />
      <path class="c-draw-accent" d="M68 69l9 9 16-18" />
    </>
  ),
  offline: (
    <>
      <path class="c-draw-line" d="M56 86a15 15 0 0 1-1-30 24 24 0 0 1 46-5 17 17 0 0 1 3 35z" />
      <path class="c-draw-accent" d="M72 62l16 16M88 62L72 78" />
    </>
  ),
} satisfies Record<string, VNode>;

export type Drawing = keyof typeof DRAWINGS;

interface Props {
  readonly drawing: Drawing;
  /** What is so: "This folder is empty". */
  readonly title: string;
  /** What one can do about it. */
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}

/** What stands where a list has nothing to show. */
export const EmptyState = ({ drawing, title, children, actions }: Props) => (
  <div class="c-empty">
    <svg class="c-empty-drawing" viewBox="0 0 160 112" aria-hidden="true">
      <path class="c-draw-ground" d="M24 62c0-30 24-48 54-50 34-2 62 18 60 48-2 28-26 44-58 44-34 0-56-14-56-42z" />
      {DRAWINGS[drawing]}
    </svg>
    <p class="c-empty-title">{title}</p>
    {children !== undefined && <div class="c-empty-text">{children}</div>}
    {actions !== undefined && <div class="c-empty-actions">{actions}</div>}
  </div>
);
