import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TAG_COLOURS } from '../pkg/web/app/files/tags/tag-colours.ts';
import { LINED, PAIRS } from '../pkg/web/design/colour-pairs.ts';
import { contrastOf, type Rgb, rgbOf } from '../pkg/web/design/contrast.ts';

const DESIGN = join(import.meta.dirname, '../pkg/web/design');

/** The declarations of each block of a style, in their order. */
function blocksOf(file: string): readonly ReadonlyMap<string, string>[] {
  const css = readFileSync(join(DESIGN, file), 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
  return [...css.matchAll(/\{([^{}]*)\}/g)].map(
    ([, body = '']) =>
      new Map([...body.matchAll(/([\w-]+):\s*([^;]+);/g)].map(([, name = '', value = '']) => [name.replace(/^--/, ''), value])),
  );
}

const [base = new Map<string, string>()] = blocksOf('tokens.css');
const [byPerson = new Map<string, string>(), bySystem, forced = new Map<string, string>()] = blocksOf('contrast.css');

/** Returns the two colours of a role, in light and dark. Throws if it has none. */
function coloursOf(role: string, tokens: ReadonlyMap<string, string>): readonly [Rgb, Rgb] {
  const [, light = '', dark = ''] = /^light-dark\((\S+), (\S+)\)$/.exec(tokens.get(role) ?? '') ?? [];
  const [inLight, inDark] = [rgbOf(light), rgbOf(dark)];
  if (!inLight || !inDark) throw new Error(`${role} has no pair of colours`);
  return [inLight, inDark];
}

/** What is below the least contrast, in light or dark. */
const tooFaint = (tokens: ReadonlyMap<string, string>, least: 'least' | 'leastOfMore'): string[] =>
  PAIRS.flatMap((pair) => {
    const [front, ground] = [coloursOf(pair.front, tokens), coloursOf(pair.ground, tokens)];
    return ([0, 1] as const).flatMap((scheme) => {
      const contrast = contrastOf(front[scheme], ground[scheme]);
      if (contrast >= pair[least]) return [];
      return [`${pair.front} on ${pair.ground}, ${scheme === 0 ? 'light' : 'dark'}: ${contrast.toFixed(2)}`];
    });
  });

const more = new Map([...base, ...byPerson]);

test('black on white has the contrast 21, a colour on itself 1, and #777777 on white less than a text needs', () => {
  const between = (one: string, other: string): number => contrastOf(rgbOf(one)!, rgbOf(other)!);

  expect(between('#000000', 'rgb(255, 255, 255)')).toBeCloseTo(21);
  expect(between('#777777', '#777777')).toBe(1);
  expect(between('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  expect(rgbOf('rgb(0 0 0 / 40%)')).toBeUndefined();
});

test('each text reaches 4.5:1 on each ground, and each line of a control 3:1, in light and dark', () => {
  expect(tooFaint(base, 'least')).toEqual([]);
});

test('where somebody wants more contrast, texts and lines reach 7:1 in light and dark, and the ring is 3 px', () => {
  expect(tooFaint(more, 'leastOfMore')).toEqual([]);
  expect(more.get('focus-width')).toBe('3px');
});

/** What styles mix with half of the ink there. */
const half = (one: Rgb, other: Rgb): Rgb => [(one[0] + other[0]) / 2, (one[1] + other[1]) / 2, (one[2] + other[2]) / 2];

test('the colours that only tell apart reach 3:1 on their surface, and 7:1 where somebody wants more contrast', () => {
  const kinds = [...readFileSync(join(DESIGN, 'file-icon.css'), 'utf8').matchAll(/--kind: (light-dark\([^)]*\))/g)];
  const hues = new Map([...base, ...kinds.map(([, value = ''], at) => [`kind-${at}`, value] as const)]);
  const roles = [...hues.keys()].filter((role) => /^(?:series|kind)-/.test(role));
  const [surface, moreSurface, ink] = [coloursOf('surface', base), coloursOf('surface', more), coloursOf('ink', more)];
  const faint = roles.filter((role) =>
    coloursOf(role, hues).some(
      (colour, at) =>
        contrastOf(colour, surface[at as 0 | 1]) < 3 || contrastOf(half(colour, ink[at as 0 | 1]), moreSurface[at as 0 | 1]) < 7,
    ),
  );

  expect([roles.length >= 16, faint]).toEqual([true, []]);
});

test('the colours that tags may have reach 3:1 on every surface, in light and dark, also where somebody wants more', () => {
  const faint = Object.entries(TAG_COLOURS).flatMap(([name, colour]) =>
    [base, more].flatMap((tokens) =>
      LINED.filter((ground) => coloursOf(ground, tokens).some((surface) => contrastOf(rgbOf(colour) as Rgb, surface) < 3)).map(
        (ground) => `${name} on ${ground}`,
      ),
    ),
  );

  expect(faint).toEqual([]);
});

test('what the system asks for is what a person may choose', () => {
  expect(bySystem).toEqual(byPerson);
});

test('forced colours give each role of a colour one of the system', () => {
  const ROLE = /^(?:page|surface|ink|line|accent|on-|danger|warning|success|info|focus$)/;
  const roles = [...base].filter(([name, value]) => ROLE.test(name) && value.startsWith('light-dark('));

  expect(roles.map(([name]) => [name, forced.get(name)])).toEqual(
    roles.map(([name]) => [name, expect.stringMatching(/^(?:Canvas|CanvasText|ButtonText|GrayText|LinkText|Highlight)$/)]),
  );
});
