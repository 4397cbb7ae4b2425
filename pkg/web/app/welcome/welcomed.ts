const KEY = 'carrel:welcomed';

/** Whether this browser has shown the welcome. Where the browser denies storage it is shown again. */
export function isWelcomed(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return false;
  }
}

export function setWelcomed(): void {
  try {
    localStorage.setItem(KEY, 'yes');
  } catch {
    // It is shown again.
  }
}
