/** Covers everything that a list of users shows, storage usage included. */
export const USERS_TAG = 'users';

/** Covers the display names and user names of all users. */
export const PROFILES_TAG = 'profiles';
