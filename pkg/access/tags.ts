/** Roles, e-mail address and state of a user. */
export const userTag = (uuid: string): string => `user:${uuid}`;

/** What is granted to a user, directly or through groups. */
export const grantsTag = (userUuid: string): string => `grants:${userUuid}`;

export const sessionTag = (id: string): string => `session:${id}`;
