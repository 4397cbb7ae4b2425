import type { Texts } from './language.ts';
import type { en } from './sign-in.en.ts';

/** The German texts of signing in and of setting a password. */
export const de: Texts<typeof en> = {
  title: 'Anmelden',
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  show: 'Passwort zeigen',
  hide: 'Passwort verbergen',
  submit: 'Anmelden',
  forgotten: 'Passwort vergessen?',
  howToReset: 'Bitten Sie die Administration um einen Link, mit dem Sie ein neues setzen. Er gilt 24 Stunden.',
  fromCourse: 'Wenn Sie aus einem Kurs kommen, öffnen Sie den Link in Ihrem Kurs: Dort brauchen Sie kein Passwort.',
  emailMissing: 'Geben Sie Ihre E-Mail-Adresse ein.',
  passwordMissing: 'Geben Sie Ihr Passwort ein.',

  'reset.title': 'Neues Passwort setzen',
  'reset.text': 'Danach enden alle Ihre Sitzungen, und Sie melden sich mit dem neuen Passwort an.',
  'reset.password': 'Neues Passwort',
  'reset.hint': 'Mindestens 8 Zeichen. Mehrere Wörter ohne Zusammenhang sind ein gutes Passwort.',
  'reset.tooShort': 'Verwenden Sie mindestens 8 Zeichen.',
  'reset.submit': 'Passwort setzen',
  'reset.done': 'Ihr neues Passwort ist gesetzt.',
  'reset.toSignIn': 'Zur Anmeldung',
  'reset.incomplete': 'Diese Adresse ist unvollständig. Öffnen Sie den ganzen Link, den Sie bekommen haben.',
};
