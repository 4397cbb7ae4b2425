import { readFile, writeFile } from 'node:fs/promises';
import type { Frame, Locator, Page } from 'playwright-core';
import { waitFor } from '../wait.ts';

/** Set to `write`, the variable TREES writes the files anew from what the pages show. */
const IS_WRITING = process.env['TREES'] === 'write';
/** The pages compared here are loaded; what is left are drawings that are under way. */
const LIMIT_MS = 60_000;

const DAY = '(?:Mon|Tue(?:s)?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?';
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*';
/** What differs from run to run, and the word that the text has for it. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'ID'],
  [/\b(?:[0-9a-f]{32}){1,2}\b/g, 'TOKEN'],
  [/(?<=\/register\/)[\w-]{43}/g, 'TOKEN'],
  [/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g, 'TIMESTAMP'],
  [new RegExp(`\\b(?:${DAY}, )?${MONTH} \\d{1,2}(?:, \\d{4})?\\b`, 'g'), 'DATE'],
  [/\b\d{1,2}:\d{2}(?::\d{2})?(?:\s[AP]M)?(?:\s(?:UTC|GMT[+-]?\d*))?/g, 'TIME'],
  [/\b\d+ (?:sec|min|hr)\b/g, 'DURATION'],
  // What the tables of a tenant take.
  [/\b[\d.]+ MB(?= of 50 GB)/g, 'SIZE'],
  [/(?<=heading |region )"(?:Today|Yesterday)"/g, '"DAY"'],
  [/(?:\b127\.0\.0\.1\b|(?<![\w:])::(?:\/64|1\b))/g, 'ADDRESS'],
];

/** Names that differ from run to run, and the words that the text has for them. */
export type Names = readonly (readonly [name: string, word: string])[];

/**
 * Returns what assistive technology gets of a page or of a part of it, the same in each run:
 * - the title of the page;
 * - roles, names, states and texts (Playwright's aria snapshot), of a modal dialog alone where one is open;
 * - what that snapshot leaves out: the focus, descriptions, what a button opens, the order of a column, names of frames.
 */
export async function treeOf(shown: Page | Frame, part: string, names: Names): Promise<string> {
  await shown.evaluate(`for (const time of document.querySelectorAll('time')) time.textContent = 'TIME'`);
  const dialog = shown.locator('dialog:modal').last();
  const root: Locator = (await dialog.count()) > 0 ? dialog : shown.locator(part);
  const tree = (await root.ariaSnapshot())
    .split('\n')
    // Addresses have ids.
    .filter((line) => !/^\s*- \/url:/.test(line))
    .map((line, at, lines) => (isDeeper(lines[at + 1], line) ? line : line.replace(/:$/, '')))
    // The browser knows the time zones. A new one knows others.
    .filter((line) => !/^\s*- option "[A-Z]\w+\/[^"]+"$/.test(line))
    // Of a drawing, its name is read alone.
    .map((line) => line.replace(/^(\s*- img ".*?"): .*$/, '$1'));
  const besides = await shown.evaluate<readonly string[]>(`(${BESIDES})(${MODAL} ?? document.querySelector('${part}'))`);
  const title = await shown.evaluate<string>('document.title');
  const text = [`title: ${title}`, ...tree, ...(besides.length > 0 ? ['besides:', ...besides] : [])].join('\n');
  return `${VARYING.reduce(
    (varying, [pattern, word]) => varying.replaceAll(pattern, word),
    names.reduce((named, [name, word]) => named.replaceAll(name, word), text),
  )}\n`;
}

const depthOf = (line = ''): number => line.search(/\S/);
const isDeeper = (line: string | undefined, than: string): boolean => depthOf(line) > depthOf(than);

const MODAL = `[...document.querySelectorAll('dialog:modal')].at(-1)`;

/** Lists what is said of the elements in one besides their names and roles. A function of the page. */
const BESIDES = `(root) => {
  const textOf = (element) => {
    const copy = element?.cloneNode(true);
    for (const unsaid of copy?.querySelectorAll('[aria-hidden=true]') ?? []) unsaid.remove();
    return (copy?.textContent ?? '').replaceAll(/\\s+/g, ' ').trim();
  };
  const idsOf = (ids) => (ids ?? '').split(/\\s+/).filter((id) => id !== '');
  const textsOf = (ids) => idsOf(ids).map((id) => textOf(document.getElementById(id))).join(' ');
  const NAMED_BY_TEXT = 'a, button, summary, h1, h2, h3, h4, th, td, [role=tab], [role^=menuitem], [role=option], [aria-current]';
  const nameOf = (element) =>
    element.ariaLabel ||
    textsOf(element.getAttribute('aria-labelledby')) ||
    textOf(element.labels?.[0]) ||
    (element.matches(NAMED_BY_TEXT) && textOf(element)) ||
    element.title ||
    element.localName;
  const saysOf = (element) => {
    const has = (name) => element.getAttribute(name);
    const name = nameOf(element);
    const title = element.localName === 'time' || element.title === name ? '' : (element.title ?? '');
    const description = textsOf(has('aria-describedby')) || title;
    return [
      element === document.activeElement && 'has the focus',
      has('aria-current') && 'current ' + has('aria-current'),
      has('aria-haspopup') && 'opens a ' + has('aria-haspopup'),
      (has('aria-sort') ?? 'none') !== 'none' && 'sorted ' + has('aria-sort'),
      element.required && 'required',
      has('aria-invalid') === 'true' && 'invalid',
      has('aria-valuetext') && 'value "' + has('aria-valuetext') + '"',
      element.localName === 'iframe' ? 'a frame' : description !== '' && 'described by "' + description + '"',
    ].filter((says) => says);
  };
  return [root, ...root.querySelectorAll('*')]
    .filter((element) => element !== document.body && element.checkVisibility({ visibilityProperty: true }))
    .filter((element) => !element.closest('[aria-hidden=true], [inert]'))
    .flatMap((element) => {
      const says = saysOf(element);
      return says.length === 0 ? [] : ['- "' + nameOf(element) + '": ' + says.join(', ')];
    });
}`;

/** Returns the text of the file, and the tree of the page: the same, unless the page shows something else for a minute. */
export async function compared(
  shown: Page | Frame,
  { file, part, names }: { readonly file: string; readonly part: string; readonly names: Names },
): Promise<{ readonly wanted: string; readonly found: string }> {
  if (IS_WRITING) await writeFile(file, await atRest(() => treeOf(shown, part, names)));
  const wanted = await readFile(file, 'utf8').catch(() => '');
  let found = '';
  const look = async (): Promise<boolean> => (found = await treeOf(shown, part, names).catch(String)) === wanted;
  await waitFor(file, look, LIMIT_MS).catch(() => undefined);
  return { wanted, found };
}

/** So many looks in a row find the same in a page that has come to rest. */
const SAME_LOOKS = 5;

async function atRest(look: () => Promise<string>): Promise<string> {
  let last = '';
  let same = 0;
  await waitFor(
    'the page to rest',
    async () => {
      const next = await look();
      same = next === last ? same + 1 : 0;
      last = next;
      return same >= SAME_LOOKS;
    },
    LIMIT_MS,
  );
  return last;
}

/** What has to have a name for whoever does not see it. */
const NAMED =
  /^\s*- (?:button|link|img|textbox|searchbox|checkbox|radio|switch|combobox|slider|spinbutton|menu|menuitem|tab|tablist|dialog|alertdialog|table|grid|region|navigation|complementary|progressbar)(?= \[|:|$)/;
/** A name that says the same words twice: what is seen and what is meant for screen readers alone. */
const TWICE = /^\s*- '?(?:button|link|heading|checkbox|tab|region|dialog) "(?:.* )?(\S.{3,}) \1"/;
const FRAME_WITHOUT_NAME = /^- "iframe": /;

/**
 * Returns what no page may have: controls without a name, words said twice, levels of headings that are left out. Content and
 * whole pages begin with a heading of level 1, dialogs with one of level 2.
 */
export function faultsOf(tree: string, part: string): string[] {
  const lines = tree.split('\n');
  const levels = lines.flatMap((line) => /^\s*- '?heading .*\[level=(\d)\]/.exec(line)?.slice(1).map(Number) ?? []);
  const isDialog = lines.some((line) => /^- '?(?:alert)?dialog/.test(line));
  const first = isDialog ? 2 : ['body', 'main'].includes(part) ? 1 : undefined;
  return [
    ...lines.filter((line) => NAMED.test(line) || FRAME_WITHOUT_NAME.test(line)).map((line) => `without a name: ${line.trim()}`),
    ...lines.filter((line) => TWICE.test(line)).map((line) => `said twice: ${line.trim()}`),
    ...(first === undefined || (levels[0] === first && levels.lastIndexOf(first) === 0)
      ? []
      : [`not one first heading, of level ${first}`]),
    ...levels.flatMap((level, at) =>
      level > (levels[at - 1] ?? level) + 1 ? [`a heading of level ${level} after one of level ${levels[at - 1]}`] : [],
    ),
  ];
}
