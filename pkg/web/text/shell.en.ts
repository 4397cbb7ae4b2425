/** The English texts of what surrounds each route. */
export const en = {
  loading: 'Loading …',
  copy: 'Copy',
  copied: 'Copied',
  close: 'Close',
  skip: 'Skip to content',
  menu: 'Menu',
  closeMenu: 'Close menu',
  navigation: 'Main',
  connection: 'Connection',
  notifications: 'Notifications',
  share: 'Share …',

  'nav.files': 'Files',
  'nav.recent': 'Recent',
  'nav.shared': 'Shared with me',
  'nav.links': 'Links',
  'nav.trash': 'Trash',
  'nav.courses': 'Courses',
  'nav.jobs': 'Jobs',
  'nav.admin': 'Administration',

  'quota.label': 'Storage',
  'quota.used': '{used} of {limit} used',

  'account.menu': 'Account: {name}',
  'account.shortcuts': 'Keyboard shortcuts',
  'account.reference': 'API reference',
  'account.password': 'Change password …',
  'account.signOut': 'Sign out',
  'theme.system': 'As the system',
  'theme.light': 'Light',
  'theme.dark': 'Dark',
  'theme.contrast': 'High contrast',

  'shortcuts.title': 'Keyboard shortcuts',
  'shortcuts.everywhere': 'Everywhere',
  'shortcuts.show': 'Show this list',
  'shortcuts.menu': 'Go to the main menu',

  offline: 'You are offline. What is on this page stays; it goes on when the connection is back.',
  online: 'You are online again.',
  slow: 'The network or the server is slow; still waiting.',

  'ended.title': 'Sign in again',
  'ended.text': 'Your session has ended. Nothing on this page is lost: sign in, and what you were doing goes on.',
  'ended.signIn': 'Sign in and continue',
  'ended.leave': 'Sign out instead',

  'failure.title': 'Something went wrong',
  'failure.retry': 'Try again',
  'failure.code': 'Code',

  'notFound.title': 'There is no such page',
  'notFound.text': 'The address may have a typing error, or what was here is gone.',
  'notFound.home': 'Go to your files',
} as const;
