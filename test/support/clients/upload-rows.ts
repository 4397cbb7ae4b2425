import type { Locator } from 'playwright-core';
import { waitFor } from '../wait.ts';
import type { FilesPage } from './files-page.ts';

type Shown = Pick<FilesPage, 'panel'>;

const MIB = 1 << 20;

/** The row of an upload in the panel. */
export const rowOf = ({ panel }: Shown, name: string): Locator => panel.getByRole('listitem').filter({ hasText: name });

/** What the row of an upload says of its state. */
export const stateOf = async (shown: Shown, name: string): Promise<string> =>
  (await rowOf(shown, name).locator('.upload-state').textContent()) ?? '';

/** Waits until the row of an upload says these words. Returns what it says. */
export const says = (shown: Shown, name: string, words: RegExp): Promise<string> =>
  waitFor(`the row of ${name} to say ${words}`, async () => {
    const state = await stateOf(shown, name);
    return words.test(state) && state;
  });

/** An upload under way, whose speed was measured: how much is sent of how much, how fast, and the time that is left. */
export const SENDING = /^([\d.,]+\s\w+) of ([\d.,]+\s\w+) · ([\d.,]+\s\w+)\/s · ([\d.,]+\s\w+) left$/;
const UNITS: Readonly<Record<string, number>> = { byte: 1, bytes: 1, kB: 1024, MB: MIB, sec: 1, min: 60, hr: 3_600 };

/** Bytes or seconds. */
function amountOf(words = ''): number {
  const [number = '', unit = ''] = words.split(/\s/);
  return Number(number.replaceAll(',', '')) * (UNITS[unit] ?? Number.NaN);
}

export interface Sending {
  readonly sent: number;
  readonly size: number;
  readonly bytesPerSecond: number;
  readonly secondsLeft: number;
}

/** The numbers of a state that SENDING matches; of another one, 0. */
export function sendingOf(state: string): Sending {
  const [sent, size, bytesPerSecond, secondsLeft] = (SENDING.exec(state) ?? []).slice(1).map(amountOf);
  return { sent: sent ?? 0, size: size ?? 0, bytesPerSecond: bytesPerSecond ?? 0, secondsLeft: secondsLeft ?? 0 };
}
