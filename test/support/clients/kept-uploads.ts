import type { Page } from 'playwright-core';
import { waitFor } from '../wait.ts';

/** Chooses files that have handles: those of the page's own file system, since no dialog can be driven. */
export async function chooseWithHandles(page: Page, files: Readonly<Record<string, string>>): Promise<void> {
  await page.evaluate(`(async (files) => {
    const root = await navigator.storage.getDirectory();
    const handles = [];
    for (const [name, content] of Object.entries(files)) {
      const handle = await root.getFileHandle(name, { create: true });
      const file = await handle.createWritable();
      await file.write(content);
      await file.close();
      handles.push(handle);
    }
    window.showOpenFilePicker = async () => handles;
  })(${JSON.stringify(files)})`);
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Upload files' }).click();
}

/** Returns the tab of each upload that the page's browser keeps, of one person or of all. */
export const keptIn = async (page: Page, person?: string): Promise<string[]> =>
  (await rowsIn<{ readonly tab: string }>(page, 'uploads', person)).map(({ tab }) => tab);

/** Returns how many handles of files the page's browser keeps for uploads of a person. */
export const handlesIn = async (page: Page, person: string): Promise<number> => (await rowsIn(page, 'handles', person)).length;

const rowsIn = <T>(page: Page, store: string, of: string | undefined): Promise<T[]> =>
  page.evaluate<T[]>(`new Promise((resolve, reject) => {
    const request = indexedDB.open('carrel-uploads');
    request.onerror = reject;
    request.onsuccess = () => {
      const reading = request.result.transaction('${store}').objectStore('${store}').getAll();
      const ofPerson = ({ person }) => person === (${JSON.stringify(of)} ?? person);
      reading.onsuccess = () => resolve(reading.result.filter(ofPerson).map(({ handle, ...row }) => row));
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
