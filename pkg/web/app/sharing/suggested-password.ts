/** Letters and digits that nobody confuses when they read them out. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const GROUPS = 3;
const GROUP_LENGTH = 4;

/** Returns a password of 59 bits, in groups that people can read out: "k7mq-x2hd-9wtr". */
export function suggestedPassword(bytes: (length: number) => Uint8Array): string {
  const letters: string[] = [];
  // Bytes that would make the first letters likelier are left out.
  const limit = 256 - (256 % ALPHABET.length);
  while (letters.length < GROUPS * GROUP_LENGTH)
    for (const byte of bytes(GROUPS * GROUP_LENGTH - letters.length))
      if (byte < limit) letters.push(ALPHABET[byte % ALPHABET.length] ?? '');
  const groups = Array.from({ length: GROUPS }, (_, n) => letters.slice(n * GROUP_LENGTH, (n + 1) * GROUP_LENGTH).join(''));
  return groups.join('-');
}
