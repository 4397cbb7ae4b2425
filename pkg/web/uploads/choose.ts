import { type Batch, chosenOf } from './walk.ts';

/** Browsers whose dialog gives handles, which read a file again after a reload. */
interface WithPicker {
  showOpenFilePicker?(options: { readonly multiple: boolean }): Promise<FileSystemFileHandle[]>;
}

/** Whether this browser lets people choose a whole folder; some on phones do not. */
export const canChooseFolders = (): boolean => 'webkitdirectory' in HTMLInputElement.prototype;

/** Asks for files. Call it in the event of a click. Nothing is found when the person cancels. */
export async function chooseFiles(): Promise<Batch> {
  const picker = globalThis as WithPicker;
  if (!picker.showOpenFilePicker) return chosenOf(await askByInput({ isFolder: false }));
  try {
    const handles = await picker.showOpenFilePicker({ multiple: true });
    const files = await Promise.all(handles.map((handle) => handle.getFile()));
    const { leftOut, ...batch } = chosenOf(files);
    const found = files.map((file, index) => ({ path: [file.name], file, handle: async () => handles[index] }));
    const names = new Set(leftOut.map(([name]) => name));
    return { ...batch, leftOut, files: found.filter(({ file }) => !names.has(file.name)) };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return chosenOf([]);
    // A frame of another site may not open it; the input may.
    return chosenOf(await askByInput({ isFolder: false }));
  }
}

/** Asks for a folder. Call it in the event of a click. Browsers give its files without its empty folders. */
export async function chooseFolder(): Promise<Batch> {
  return chosenOf(await askByInput({ isFolder: true }));
}

function askByInput({ isFolder }: { readonly isFolder: boolean }): Promise<readonly File[]> {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.webkitdirectory = isFolder;
  input.hidden = true;
  // Safari opens no dialog for an input outside of the document.
  document.body.append(input);
  return new Promise((resolve) => {
    const ended = (): void => {
      input.remove();
      resolve([...(input.files ?? [])]);
    };
    input.addEventListener('change', ended);
    input.addEventListener('cancel', ended);
    input.click();
  });
}
