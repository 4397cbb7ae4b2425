/** Anything that a list of users shows, storage used included. */
export const USERS_TAG = 'users';

/** Display and user name of anybody. */
export const PROFILES_TAG = 'profiles';
