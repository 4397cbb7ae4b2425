import './tag-dot.css';

/**
 * The colour that somebody gave to a tag, beside its name, which says the same. People choose any colour, so the ring is what is
 * seen on every surface.
 */
export const TagDot = ({ colour }: { readonly colour: string }) => (
  <span class="c-tag-dot" style={{ backgroundColor: colour }} aria-hidden="true" />
);
