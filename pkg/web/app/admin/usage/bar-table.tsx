interface Row {
  readonly key: string;
  readonly label: string;
  readonly href?: string;
  readonly value: number;
  /** The third column. */
  readonly more: string;
}

interface Props {
  readonly labelledBy: string;
  /** The colour of the bars, a number of tokens.css. */
  readonly series: number;
  readonly heads: readonly [string, string, string];
  readonly rows: readonly Row[];
  readonly format: (value: number) => string;
}

/** Numbers by name, with a bar for each: a table to whoever reads, a plot to whoever looks. */
export function BarTable({ labelledBy, series, heads, rows, format }: Props) {
  const highest = Math.max(1, ...rows.map(({ value }) => value));
  return (
    <table class={`usage-table c-series-${series}`} aria-labelledby={labelledBy}>
      <thead class="c-hidden">
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, label, href, value, more }) => (
          <tr key={key}>
            <th scope="row">
              {href === undefined ? (
                label
              ) : (
                <a class="c-name" href={href}>
                  {label}
                </a>
              )}
              <span class="usage-meter" aria-hidden="true">
                <span style={{ inlineSize: `${(100 * value) / highest}%` }} />
              </span>
            </th>
            <td>{format(value)}</td>
            <td class="admin-quiet">{more}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
