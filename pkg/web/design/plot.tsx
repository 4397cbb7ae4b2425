import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { shownLabels, ticks } from './plot-scale.ts';
import './plot.css';

export interface Series {
  readonly name: string;
  /** One for each label; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

interface Props {
  readonly title: string;
  /** Opens the same numbers as a table: "Show as a table". */
  readonly tableLabel: string;
  readonly kind: 'bars' | 'lines';
  readonly labels: readonly string[];
  /** At most five. Bars of one label lie on top of each other. */
  readonly series: readonly Series[];
  readonly format?: ((value: number) => string) | undefined;
}

const HEIGHT = 220;
const TOP = 8;
const BOTTOM = 24;
const START = 56;
const LABEL_WIDTH = 64;
const GAP = 0.28;

/** Numbers over time or by kind, as bars or lines; the same numbers as a table below, for whoever reads rather than looks. */
export function Plot({ title, tableLabel, kind, labels, series, format = String }: Props) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!box.current) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return (
    <figure class="c-plot">
      <figcaption class="c-plot-title">{title}</figcaption>
      {series.length > 1 && (
        <ul role="list" class="c-plot-legend">
          {series.map(({ name }, index) => (
            <li key={name} class={`c-series-${index + 1}`}>
              <Key kind={kind} stripes={`${id}-${index}`} />
              {name}
            </li>
          ))}
        </ul>
      )}
      <div ref={box} class="c-plot-box">
        {width > 0 && <Drawing id={id} kind={kind} labels={labels} series={series} format={format} width={width} title={title} />}
      </div>
      <details class="c-plot-table">
        <summary>{tableLabel}</summary>
        <Numbers title={title} labels={labels} series={series} format={format} />
      </details>
    </figure>
  );
}

type Drawn = Required<Pick<Props, 'kind' | 'labels' | 'series' | 'title'>> & {
  readonly format: (value: number) => string;
  readonly width: number;
  /** Begins the ids of the stripes. */
  readonly id: string;
};

/** The directions of the stripes of the second series and those after it, in degrees. */
const STRIPES = [45, 0, 135, 90];

/** The stripes of each series but the first, by which bars differ without their colours. */
const Stripes = ({ id }: Pick<Drawn, 'id'>) => (
  <defs>
    {STRIPES.map((degrees, index) => (
      <pattern
        key={degrees}
        id={`${id}-${index + 1}`}
        width={6}
        height={6}
        patternUnits="userSpaceOnUse"
        patternTransform={`rotate(${degrees})`}
      >
        <path d="M0 3H6" class="c-plot-stripe" />
      </pattern>
    ))}
  </defs>
);

/** How the marks of a series look, beside its name. */
const Key = ({ kind, stripes }: { readonly kind: Props['kind']; readonly stripes: string }) => (
  <svg class="c-plot-key" width={kind === 'lines' ? 24 : 12} height={12} aria-hidden="true">
    {kind === 'lines' ? <path class="c-plot-curve" d="M0 6H24" /> : <Bar stripes={stripes} x={0} y={0} width={12} height={12} />}
  </svg>
);

function Drawing({ id, kind, labels, series, format, width, title }: Drawn) {
  const sums = labels.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const highest = kind === 'bars' ? Math.max(...sums, 0) : Math.max(...series.flatMap(({ values }) => values.map(Number)), 0);
  const marks = ticks(highest);
  const top = marks.at(-1) ?? 1;
  const inner = width - START;
  const slot = inner / Math.max(labels.length, 1);
  const y = (value: number): number => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  const x = (at: number): number => START + slot * (at + 0.5);
  const shown = shownLabels(labels.length, inner, LABEL_WIDTH);
  return (
    <svg class="c-plot-drawing" width={width} height={HEIGHT} role="img" aria-label={title}>
      {kind === 'bars' && <Stripes id={id} />}
      {marks.map((mark) => (
        <g key={mark}>
          <line x1={START} x2={width} y1={y(mark)} y2={y(mark)} class="c-plot-line" />
          <text x={START - 8} y={y(mark)} class="c-plot-mark">
            {format(mark)}
          </text>
        </g>
      ))}
      {labels.map(
        (label, at) =>
          shown.has(at) && (
            <text key={label} x={x(at)} y={HEIGHT - 6} class="c-plot-label">
              {label}
            </text>
          ),
      )}
      {kind === 'bars' ? (
        <Bars id={id} labels={labels} series={series} format={format} slot={slot} x={x} y={y} />
      ) : (
        <Lines labels={labels} series={series} format={format} x={x} y={y} />
      )}
    </svg>
  );
}

interface BarProps {
  /** The id of its stripes; the first series has none. */
  readonly stripes: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const Bar = ({ stripes, ...place }: BarProps) => (
  <>
    <rect class="c-plot-bar" {...place} rx={2} />
    <rect class="c-plot-stripes" {...place} rx={2} fill={stripes.endsWith('-0') ? 'none' : `url(#${stripes})`} />
  </>
);

type Marks = Pick<Drawn, 'labels' | 'series' | 'format'> & {
  readonly x: (at: number) => number;
  readonly y: (value: number) => number;
};

const Bars = ({ id, labels, series, format, slot, x, y }: Marks & { id: string; slot: number }) =>
  labels.map((label, at) => {
    const bar = Math.min(slot * (1 - GAP), 48);
    let below = 0;
    return (
      <g key={label}>
        {series.map(({ name, values }, index) => {
          const value = values[at] ?? 0;
          const from = below;
          below += value;
          return (
            <g key={name} class={`c-series-${index + 1}`}>
              <title>{`${label}, ${name}: ${format(value)}`}</title>
              <Bar
                stripes={`${id}-${index}`}
                x={x(at) - bar / 2}
                width={bar}
                y={y(below)}
                height={Math.max(y(from) - y(below), 0)}
              />
            </g>
          );
        })}
      </g>
    );
  });

const Lines = ({ labels, series, format, x, y }: Marks) =>
  series.map(({ name, values }, index) => {
    let isDown = false;
    const path = values.map((value, at) => {
      if (value === null) return void (isDown = false);
      const step = `${isDown ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = true;
      return step;
    });
    return (
      <g key={name} class={`c-series-${index + 1}`}>
        <path class="c-plot-curve" d={path.filter(Boolean).join('')} />
        {values.map(
          (value, at) =>
            value !== null && (
              <circle key={labels[at]} cx={x(at)} cy={y(value)} r={labels.length > 40 ? 1.5 : 3} class="c-plot-dot">
                <title>{`${labels[at]}, ${name}: ${format(value)}`}</title>
              </circle>
            ),
        )}
      </g>
    );
  });

const Numbers = ({ title, labels, series, format }: Pick<Drawn, 'title' | 'labels' | 'series' | 'format'>) => (
  <div class="c-plot-scroll" tabIndex={0} role="region" aria-label={title}>
    <table>
      <thead>
        <tr>
          <td />
          {series.map(({ name }) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {labels.map((label, at) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            {series.map(({ name, values }) => (
              <td key={name}>{values[at] === null || values[at] === undefined ? '–' : format(values[at])}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
