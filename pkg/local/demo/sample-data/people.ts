/** The password of all sample people, and of sample links: the platform listens on this machine alone. */
export const SAMPLE_PASSWORD = 'sea and mountains';

/** A person of the sample tenant. */
export interface SamplePerson {
  readonly email: string;
  readonly username: string;
  readonly display_name: string;
  readonly roles: readonly ('admin' | 'instructor' | 'member' | 'viewer')[];
}

const person = (name: string, roles: SamplePerson['roles'] = ['member']): SamplePerson => {
  const username = name
    .normalize('NFD')
    .replaceAll(/[^A-Za-z ]/g, '')
    .toLowerCase()
    .replace(' ', '.');
  return { email: `${username}@example.org`, username, display_name: name, roles };
};

export const TEACHERS: readonly SamplePerson[] = [person('Elif Demir', ['instructor']), person('Jonas Weber', ['instructor'])];
export const STUDENTS: readonly SamplePerson[] = [
  person('Amara Nwosu'),
  person('Björn Sandberg'),
  person('Carla Rossi'),
  person('Daniel Kim'),
  person('Freya Jensen'),
  person('Hugo Martin'),
];
export const GUESTS: readonly SamplePerson[] = [person('Ingrid Haugen', ['viewer'])];
