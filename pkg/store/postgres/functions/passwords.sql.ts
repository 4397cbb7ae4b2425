import { triggerFunction } from './function.ts';

/** Any change of a password ends its outstanding reset, whoever makes it. */
export const passwordFunctions = triggerFunction('end_password_reset', {
  body: 'DELETE FROM password_resets WHERE user_id = NEW.id;',
});
