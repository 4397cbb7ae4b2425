/** The English texts of the files. */
export const en = {
  title: 'Files',
  mine: 'My files',
  path: 'Path',
  more: 'Folders in between',
  name: 'Name',
  size: 'Size',
  changed: 'Changed',
  loading: 'Loading files …',
  empty: 'This folder is empty.',
} as const;
