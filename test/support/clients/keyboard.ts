import type { Locator, Page } from 'playwright-core';
import { waitFor } from '../wait.ts';

/** More stops than any page has. */
const MAX_STOPS = 150;
/** A page has this time to move the focus after a key. */
const FOCUS_MS = 20_000;

/** What has the focus; undefined where the document has it, which is nowhere. */
interface Focused {
  readonly role: string;
  readonly name: string;
  /** There is a line around it, or a script put the focus on a part of the page for screen readers. */
  readonly isMarked: boolean;
  /** Some of it is on the screen, and nothing lies over it. */
  readonly isSeen: boolean;
}

const FOCUSED = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return undefined;
  const labels = element.getAttribute('aria-labelledby')?.split(' ').map((id) => document.getElementById(id)?.textContent);
  const name = element.ariaLabel ?? labels?.join(' ') ?? element.labels?.[0]?.textContent ?? element.textContent ?? '';
  const isMarked = element.matches('[tabindex="-1"]:is(main, h1, h2, h3, section, [role=grid])')
    || [element, element.parentElement].some((one) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(one);
      return outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
    });
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const isSeen = [0.1, 0.5, 0.9].some((x) => [0.1, 0.5, 0.9].some((y) => {
    const at = document.elementFromPoint(left + (right - left) * x, top + (bottom - top) * y);
    return at !== null && (element.contains(at) || at.contains(element));
  }));
  return { role: element.role ?? element.tagName.toLowerCase(), name: name.trim(), isMarked, isSeen };
})()`;

/** A person with a keyboard and no mouse. Whatever they do, the focus is somewhere, and it is seen where. */
export class Keyboard {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key);
  }

  type(text: string): Promise<void> {
    return this.#page.keyboard.type(text);
  }

  /** Waits until something has the focus that is seen and marked; fails if it is nowhere. */
  async held(after: string): Promise<Focused> {
    let last: Focused | undefined;
    try {
      return await waitFor(
        `the focus after ${after}`,
        async () => {
          last = await this.#focused();
          return last?.isMarked && last.isSeen && last;
        },
        FOCUS_MS,
      );
    } catch (error) {
      throw new Error(`after ${after} the focus is ${whereIs(last)}`, { cause: error });
    }
  }

  /** Goes by Tab to what has this name. What comes late is reached on another way around the page. */
  async tabTo(name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const passed: string[] = [];
    const deadline = performance.now() + FOCUS_MS;
    for (let stop = 0; stop < MAX_STOPS || performance.now() < deadline; stop += 1) {
      await this.press(key);
      const focused = await this.#focused();
      // Behind the last stop the browser itself has the focus.
      if (focused === undefined) continue;
      if (isNamed(focused, name)) {
        await this.held(`going to ${name}`);
        return;
      }
      passed.push(focused.name.slice(0, 40));
    }
    throw new Error(`no Tab leads to ${name}; there are: ${[...new Set(passed)].join(' | ')}`);
  }

  /** Goes to a button or link, and presses Enter. */
  async use(name: string | RegExp): Promise<void> {
    await this.tabTo(name);
    await this.press('Enter');
  }

  /** Waits until what has this name has the focus. */
  async isAt(name: string | RegExp): Promise<void> {
    let last: Focused | undefined;
    try {
      await waitFor(`the focus at ${name}`, async () => isNamed((last = await this.#focused()), name), FOCUS_MS);
    } catch (error) {
      throw new Error(`the focus is not at ${name}, but ${whereIs(last)}`, { cause: error });
    }
  }

  /** Goes down in an open menu to a command, which may come late, and presses Enter. */
  async choose(command: string): Promise<void> {
    await waitFor('a menu to have the focus', async () => (await this.#focused())?.role.startsWith('menuitem'), FOCUS_MS);
    await waitFor(
      `${command} in the menu`,
      async () => {
        if ((await this.#focused())?.name.startsWith(command)) return true;
        await this.press('ArrowDown');
        return false;
      },
      FOCUS_MS,
    );
    await this.press('Enter');
  }

  /** Goes down in a list of choices that has the focus, from its first, until `field` has this value. */
  async pick(field: Locator, value: string): Promise<void> {
    await this.press('Home');
    await waitFor(
      `${value} to be chosen`,
      async () => {
        if ((await field.inputValue()) === value) return true;
        await this.press('ArrowDown');
        return false;
      },
      FOCUS_MS,
    );
  }

  #focused(): Promise<Focused | undefined> {
    return this.#page.evaluate<Focused | undefined>(FOCUSED);
  }
}

const isNamed = (focused: Focused | undefined, name: string | RegExp): boolean =>
  focused !== undefined && (typeof name === 'string' ? focused.name === name : name.test(focused.name));
const whereIs = (focused: Focused | undefined): string => (focused === undefined ? 'nowhere' : `at ${JSON.stringify(focused)}`);
