import type { Page } from 'playwright-core';
import { waitFor } from '../wait.ts';

/** Returns the tab of each upload that the page's browser keeps. */
export const keptIn = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`new Promise((resolve, reject) => {
    const request = indexedDB.open('carrel-uploads');
    request.onerror = reject;
    request.onsuccess = () => {
      const reading = request.result.transaction('uploads').objectStore('uploads').getAll();
      reading.onsuccess = () => resolve(reading.result.map(({ tab }) => tab));
      request.result.close();
    };
  })`);

/** Returns how to wait until a page that is loaded from now on has looked for uploads that other tabs left. */
export async function watchTakeOver(page: Page): Promise<() => Promise<void>> {
  await page.addInitScript(`(() => {
    const { getAll } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.getAll = function (...parameters) {
      window.hasLooked = true;
      return getAll.apply(this, parameters);
    };
  })()`);
  return async () => void (await waitFor('the page to look for uploads', () => page.evaluate<boolean>('!!window.hasLooked')));
}
