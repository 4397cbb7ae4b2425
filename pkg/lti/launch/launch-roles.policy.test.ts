import { expect, test } from '@jest/globals';
import { courseRole, OUTSIDERS, roleOf, roleUris } from './launch-roles.policy.ts';

const LIS = 'http://purl.imsglobal.org/vocab/lis/v2';

test.each([
  [[`${LIS}/membership#Instructor`], 'instructor', 'instructor'],
  [['Instructor'], 'instructor', 'instructor'],
  [[`${LIS}/membership/Instructor#TeachingAssistant`], 'instructor', 'instructor'],
  [[`${LIS}/membership#ContentDeveloper`], 'instructor', 'instructor'],
  [[`${LIS}/membership#Administrator`], 'instructor', 'instructor'],
  [[`${LIS}/membership#Learner`], 'learner', 'member'],
  [['Learner'], 'learner', 'member'],
  [[`${LIS}/membership/Learner#Instructor`], 'learner', 'member'],
  [[`${LIS}/membership#Mentor`], 'learner', 'viewer'],
  [[`${LIS}/institution/person#Instructor`], 'learner', 'viewer'],
  [[`${LIS}/system/person#Administrator`], 'learner', 'viewer'],
  [[`${LIS}/membership#Learner`, `${LIS}/institution/person#Faculty`], 'learner', 'member'],
  [['https://lms.example.org/roles#Instructor'], 'learner', 'viewer'],
  [[], 'learner', 'viewer'],
])('%j is %s in the course and %s here', (roles, inCourse, here) => {
  expect([courseRole(roles), roleOf(roles)]).toEqual([inCourse, here]);
});

test('bare names of context roles are shown as addresses, each role once and in order, and no more than twenty', () => {
  const many = Array.from({ length: 30 }, (_, at) => `https://lms.example.org/roles#${at}`);

  expect(roleUris(['Learner', 'Instructor#Grader', 'urn:x', `${LIS}/membership#Learner`])).toEqual([
    `${LIS}/membership#Learner`,
    `${LIS}/membership/Instructor#Grader`,
    'urn:x',
  ]);
  expect(roleUris(many)).toHaveLength(20);
});

test('a launch makes nobody an administrator, whatever administrators the LMS says that it is from', () => {
  const administrators = [
    ...OUTSIDERS,
    'Administrator',
    'admin',
    `${LIS}/membership#Administrator`,
    `${LIS}/membership/Administrator#SystemAdministrator`,
    `${LIS}/institution/person#Administrator`,
    `${LIS}/system/person#SysAdmin`,
  ];

  const given = new Set<string>([...administrators.map((role) => roleOf([role])), roleOf(administrators)]);

  expect(given).toEqual(new Set(['viewer', 'instructor']));
});
