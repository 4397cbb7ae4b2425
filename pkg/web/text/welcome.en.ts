/** The English texts of the welcome. */
export const en = {
  title: 'Welcome',
  heading: 'Welcome to {tenant}',
  text: 'Your service runs. These are the usual next steps, in any order.',
  people: 'Add people',
  'people.text': 'Make accounts and hand out links with which people set their passwords.',
  lms: 'Connect your LMS',
  'lms.text': 'Courses then open here without a password, and grades arrive in the grade book.',
  rules: 'Set the rules for links',
  'rules.text': 'Decide whether links need a password, when they end, and whether they take uploads.',
  files: 'Upload files',
  'files.text': 'Drop files or whole folders, and share them with people and groups.',
  done: 'Done',
  leave: 'Go to the files',
} as const;
