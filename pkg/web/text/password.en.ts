/** The English texts of changing one's own password. */
export const en = {
  title: 'Change password',
  text: 'You stay signed in here. Your other devices are signed out.',
  current: 'Present password',
  missing: 'Enter the password that you have.',
  wrong: 'This is not your password.',
  cancel: 'Cancel',
  do: 'Change password',
  changed: 'Your password is changed.',
} as const;
