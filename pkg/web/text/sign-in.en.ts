/** The English texts of signing in and of setting a password. */
export const en = {
  title: 'Sign in',
  email: 'E-mail address',
  password: 'Password',
  show: 'Show password',
  hide: 'Hide password',
  submit: 'Sign in',
  forgotten: 'Forgot your password?',
  howToReset: 'Ask an administrator for a link with which you set a new one. It works for 24 hours.',
  fromCourse: 'If you came from a course, open the link in your course: you need no password there.',
  emailMissing: 'Enter your e-mail address.',
  passwordMissing: 'Enter your password.',

  'reset.title': 'Set a new password',
  'reset.text': 'When it is set, all your sessions end, and you sign in with the new password.',
  'reset.password': 'New password',
  'reset.hint': 'At least 8 characters. Several unrelated words make a good password.',
  'reset.tooShort': 'Use at least 8 characters.',
  'reset.submit': 'Set password',
  'reset.done': 'Your new password is set.',
  'reset.toSignIn': 'Sign in',
  'reset.incomplete': 'This address is incomplete. Open the whole link that you were given.',
} as const;
