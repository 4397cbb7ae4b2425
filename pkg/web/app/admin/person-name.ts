import type { User } from '../../api/operations.generated.ts';

/** The name that others see. */
export const nameOf = (user: Pick<User, 'display_name' | 'username'>): string => user.display_name ?? user.username;
