/** The English texts for what the API refuses at a field. */
export const en = {
  empty: 'Fill this in.',
  short: 'Use at least {count} characters.',
  long: 'Use at most {count} characters.',
  common: 'This password is one of those that attackers try first. Choose another.',
  dots: 'A name cannot be “.” or “..”.',
  slash: 'A name cannot contain a slash: “/” or “\\”.',
  control: 'This contains invisible characters that a name cannot have. Type it instead of pasting it.',
  invisible: 'Use at least one visible character.',
  path: 'With this name, the path would be too long. Choose a shorter name.',
  value: 'This value is not accepted.',
} as const;
