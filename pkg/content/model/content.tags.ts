export const fileTag = (uuid: string): string => `file:${uuid}`;

/** Name, parent and state of any folder. */
export const FOLDERS_TAG = 'folders';
