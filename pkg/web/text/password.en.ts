/** The English texts of changing one's own password. */
export const en = {
  title: 'Change password',
  text: 'You stay signed in here. Your other devices are signed out.',
  current: 'Current password',
  missing: 'Enter your current password.',
  wrong: 'This is not your password.',
  cancel: 'Cancel',
  do: 'Change password',
  changed: 'Your password has been changed.',
} as const;
