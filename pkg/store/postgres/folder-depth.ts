/** Folders may be so deep: the check of the tenants' table `folders`, whose baseline says why. */
export const MAX_FOLDER_DEPTH = 99;
