import { INSTRUCTOR, LEARNER } from './lms/claims.ts';

/** The people of each course of the demo LMS, and their roles. */
export const PEOPLE = [
  { id: 'ada', name: 'Ada Okafor', email: 'ada@example.org', roles: [INSTRUCTOR], as: 'instructor' },
  { id: 'ben', name: 'Ben Lindqvist', email: 'ben@example.org', roles: [LEARNER], as: 'learner' },
  { id: 'chi', name: 'Chi Tanaka', email: 'chi@example.org', roles: [LEARNER], as: 'learner' },
] as const;

/** They are in each course, and have never opened a link of it. */
export const CLASSMATES = [
  'Dana Petrova',
  'Emil Sørensen',
  'Fatima Zahra',
  'Gabriel Costa',
  'Hana Novák',
  'Ivo Marić',
  'Jia Chen',
  'Kofi Mensah',
  'Lena Vogel',
] as const;

/** The courses of the demo LMS. */
export const COURSES = [
  { id: 'history-1', title: 'History', label: 'HIST 101' },
  { id: 'physics-1', title: 'Physics', label: 'PHYS 101' },
] as const;
