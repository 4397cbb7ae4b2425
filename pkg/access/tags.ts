/** Roles, e-mail address and state of a user. */
export const userTag = (uuid: string): string => `user:${uuid}`;

/** The grants of a user, direct or through groups. */
export const grantsTag = (userUuid: string): string => `grants:${userUuid}`;

export const sessionTag = (id: string): string => `session:${id}`;
