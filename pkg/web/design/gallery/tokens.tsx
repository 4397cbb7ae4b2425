import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { GROUNDS, LINED, LINES, SEPARATORS, SURFACES, TEXTS } from '../colour-pairs.ts';
import { contrastOf, rgbOf } from '../contrast.ts';
import { useMedia } from '../media.ts';

const SERIES = [1, 2, 3, 4, 5];
const SIZES = ['xs', 's', 'm', 'l', 'xl', '2xl', '3xl'];
const SPACES = [1, 2, 3, 4, 5, 6, 7];
const RADII = ['s', 'm', 'l', 'full'];
const SHADOWS = [1, 2, 3];

const colour = (role: string): string => `var(--${role})`;

interface SampleProps {
  readonly front: string;
  readonly ground: string;
  /** A line around it has the colour, instead of the text in it. */
  readonly isLine?: boolean;
  /** What the colours depend on. */
  readonly mode: string;
}

/** Two colours as they meet, and their contrast as the browser shows them. */
function Sample({ front, ground, isLine = false, mode }: SampleProps) {
  const box = useRef<HTMLSpanElement>(null);
  const [contrast, setContrast] = useState<number>();
  useLayoutEffect(() => {
    if (!box.current) return;
    const shown = getComputedStyle(box.current);
    const [over, under] = [rgbOf(isLine ? shown.borderBlockStartColor : shown.color), rgbOf(shown.backgroundColor)];
    setContrast(over && under && contrastOf(over, under));
  }, [mode, isLine]);
  const style = { background: colour(ground), ...(isLine ? { borderColor: colour(front) } : { color: colour(front) }) };
  return (
    <span ref={box} class="gallery-sample" style={style}>
      {contrast?.toFixed(1) ?? '–'}
    </span>
  );
}

interface TableProps {
  readonly label: string;
  readonly fronts: readonly string[];
  readonly grounds: readonly string[];
  readonly isLine?: boolean;
  readonly mode: string;
}

const Contrasts = ({ label, fronts, grounds, isLine = false, mode }: TableProps) => (
  <div class="gallery-scroll" role="region" aria-label={label} tabIndex={0}>
    <table class="gallery-table">
      <thead>
        <tr>
          <td />
          {grounds.map((ground) => (
            <th key={ground} scope="col">
              {ground}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {fronts.map((front) => (
          <tr key={front}>
            <th scope="row">{front}</th>
            {grounds.map((ground) => (
              <td key={ground}>
                <Sample front={front} ground={ground} isLine={isLine} mode={mode} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** The values of tokens.css: colours with their contrast, sizes of text, space, corners and shadows. */
export function Tokens({ mode: chosen }: { readonly mode: string }) {
  const [isDark, isMore, isForced] = [
    useMedia('(prefers-color-scheme: dark)'),
    useMedia('(prefers-contrast: more)'),
    useMedia('(forced-colors: active)'),
  ];
  const mode = [chosen, isDark, isMore, isForced].join(' ');
  return (
    <>
      <h3>Texts on grounds</h3>
      <Contrasts label="Contrast of texts" fronts={TEXTS} grounds={SURFACES} mode={mode} />
      <ul role="list" class="gallery-row">
        {GROUNDS.map(([front, ground]) => (
          <li key={`${front} ${ground}`} class="gallery-swatch">
            <Sample front={front} ground={ground} mode={mode} />
            <span>
              {front} on {ground}
            </span>
          </li>
        ))}
      </ul>
      <h3>Lines on grounds</h3>
      <Contrasts label="Contrast of lines" fronts={[...LINES, ...SEPARATORS]} grounds={LINED} isLine mode={mode} />
      <h3>Series of a plot</h3>
      <ul role="list" class="gallery-row">
        {SERIES.map((number) => (
          <li key={number} class={`gallery-swatch c-series-${number}`}>
            <span class="gallery-colour" style={{ background: 'var(--series)' }} />
            <span>series-{number}</span>
          </li>
        ))}
      </ul>
      <h3>Type</h3>
      <ul role="list" class="gallery-stack">
        {SIZES.map((size) => (
          <li key={size} style={{ fontSize: `var(--size-${size})` }}>
            size-{size}: What people see of a tenant
          </li>
        ))}
        <li style={{ fontWeight: 'var(--weight-medium)' }}>weight-medium</li>
        <li style={{ fontWeight: 'var(--weight-strong)' }}>weight-strong</li>
        <li>
          <code>font-code</code>
        </li>
      </ul>
      <h3>Space, corners and shadows</h3>
      <ul role="list" class="gallery-stack">
        {SPACES.map((step) => (
          <li key={step} class="gallery-swatch">
            <span class="gallery-space" style={{ inlineSize: `var(--space-${step})` }} />
            <span>space-{step}</span>
          </li>
        ))}
      </ul>
      <ul role="list" class="gallery-row">
        {RADII.map((radius) => (
          <li key={radius} class="gallery-box" style={{ borderRadius: `var(--radius-${radius})` }}>
            radius-{radius}
          </li>
        ))}
        {SHADOWS.map((shadow) => (
          <li key={shadow} class="gallery-box" style={{ boxShadow: `var(--shadow-${shadow})` }}>
            shadow-{shadow}
          </li>
        ))}
      </ul>
    </>
  );
}
