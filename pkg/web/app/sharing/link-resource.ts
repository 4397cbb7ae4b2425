import type { Share } from '../../api/operations.generated.ts';

/** Returns the file or folder that a link is of. */
export const resourceOf = ({ file_id, folder_id }: Share): { readonly type: 'file' | 'folder'; readonly id: string } =>
  file_id === null ? { type: 'folder', id: folder_id ?? '' } : { type: 'file', id: file_id };

export const nameOf = ({ file_name, folder_name }: Share): string => file_name ?? folder_name ?? '';
