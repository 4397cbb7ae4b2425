/** The colours that the pages offer for tags. Each reaches 3:1 on every surface, in light and dark: hack/web-contrast.test.ts. */
export const TAG_COLOURS = {
  red: '#d6453d',
  orange: '#c4601f',
  yellow: '#8f7a00',
  green: '#3b8a4f',
  teal: '#12868a',
  blue: '#3f7fc4',
  violet: '#8a66d6',
  pink: '#c4559b',
  grey: '#7a7884',
} as const;
export type TagColour = keyof typeof TAG_COLOURS;
