import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Client } from '../api/client.ts';
import type { Welcome } from '../api/operations.generated.ts';
import type { Session } from '../api/session.ts';

/** What the components of the app work with. */
export interface Services {
  readonly session: Session;
  /** The API, as the person who is signed in. */
  readonly client: Client;
  /** The API without a token: for what needs none. */
  readonly anonymous: Client;
}

export const ServicesContext = createContext<Services | undefined>(undefined);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (!services) throw new Error('this component is outside of the app');
  return services;
}

export const useClient = (): Client => useServices().client;

/** Who is signed in, and what the tenant offers (GET /me). */
export interface Me extends Welcome {
  /** Asks again: after what changes the quota, the name or the rights. */
  readonly reload: () => void;
}

export const MeContext = createContext<Me | undefined>(undefined);

/** For components inside the shell, where somebody is signed in. */
export function useMe(): Me {
  const me = useContext(MeContext);
  if (!me) throw new Error('this component is outside of the shell');
  return me;
}

/** Says whether the person has this permission: `write:users`. */
export const useMay = (permission: string): boolean => useMe().permissions.includes(permission);
