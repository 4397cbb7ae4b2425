/** The English texts of the question before something is lost that somebody has entered. */
export const en = {
  title: 'Discard what you entered?',
  text: 'It has not been saved yet.',
  keep: 'Go on editing',
  discard: 'Discard',
} as const;
