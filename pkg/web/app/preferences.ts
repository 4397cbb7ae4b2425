import { Observed } from '../api/observed.ts';
import { currentLanguage, type Language, LANGUAGES, speak } from '../text/language.ts';

export const THEMES = ['system', 'light', 'dark', 'contrast'] as const;
export type Theme = (typeof THEMES)[number];

const THEME = 'carrel:theme';
const LANGUAGE = 'carrel:language';

/** The browser may deny its storage; a choice then lasts as long as the page. */
function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // It lasts as long as the page.
  }
}

export const theme = new Observed<Theme>('system');
export const language = new Observed<Language>('en');

/** Applies what was chosen in this browser: the theme, and the language in place of that of the document. */
export async function applyPreferences(): Promise<void> {
  const wanted = THEMES.find((one) => one === stored(THEME)) ?? 'system';
  wear(wanted);
  await use(stored(LANGUAGE) ?? document.documentElement.lang);
}

export function chooseTheme(chosen: Theme): void {
  store(THEME, chosen);
  wear(chosen);
}

export async function chooseLanguage(chosen: Language): Promise<void> {
  store(LANGUAGE, chosen);
  await use(chosen);
}

function wear(chosen: Theme): void {
  const { dataset } = document.documentElement;
  delete dataset['theme'];
  delete dataset['contrast'];
  if (chosen === 'contrast') dataset['contrast'] = 'more';
  else if (chosen !== 'system') dataset['theme'] = chosen;
  theme.set(chosen);
}

async function use(wanted: string): Promise<void> {
  await speak(Object.hasOwn(LANGUAGES, wanted) ? wanted : 'en');
  document.documentElement.lang = currentLanguage();
  language.set(currentLanguage());
}
