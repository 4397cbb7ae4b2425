/** Red, green and blue, each from 0 to 255. */
export type Rgb = readonly [number, number, number];

/** Reads `#rrggbb`, and what a browser computes of an opaque colour: `rgb(29, 27, 34)`. Undefined: it is something else. */
export function rgbOf(colour: string): Rgb | undefined {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour)?.slice(1);
  const decimal = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(colour)?.slice(1);
  const [red, green, blue] = hex?.map((digits) => Number.parseInt(digits, 16)) ?? decimal?.map(Number) ?? [];
  return red === undefined || green === undefined || blue === undefined ? undefined : [red, green, blue];
}

/** Returns the contrast of two colours, from 1 to 21 (WCAG 2.2, contrast ratio). */
export function contrastOf(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Returns the relative luminance (WCAG 2.2), from 0 to 1. */
function luminanceOf(colour: Rgb): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
