import './skeleton.css';

interface Props {
  /** Read aloud once: "Loading files". */
  readonly label: string;
  readonly rows?: number | undefined;
  readonly kind?: 'rows' | 'text' | 'cards' | undefined;
}

/** The outline of what loads, where its shape is known: nothing moves when it arrives. */
export const Skeleton = ({ label, rows = 4, kind = 'text' }: Props) => (
  <div class={`c-skeleton c-skeleton-${kind}`} role="status">
    <span class="c-hidden">{label}</span>
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} class="c-skeleton-bar" aria-hidden="true" />
    ))}
  </div>
);
