/** The part of fengari (Lua in JavaScript) that the tests of the health checks use; it has no types of its own. */
declare module 'fengari' {
  interface State {
    readonly brand: 'lua_State';
  }
  export const lua: {
    readonly LUA_OK: number;
    lua_pcall(state: State, args: number, results: number, handler: number): number;
    lua_createtable(state: State, items: number, fields: number): void;
    lua_setfield(state: State, table: number, name: Uint8Array): void;
    lua_seti(state: State, table: number, index: number): void;
    lua_settop(state: State, index: number): void;
    lua_setglobal(state: State, name: Uint8Array): void;
    lua_getfield(state: State, table: number, name: Uint8Array): number;
    lua_pushboolean(state: State, value: boolean): void;
    lua_pushnumber(state: State, value: number): void;
    lua_pushstring(state: State, value: Uint8Array): void;
    lua_tojsstring(state: State, index: number): string;
    lua_close(state: State): void;
  };
  export const lauxlib: {
    luaL_newstate(): State;
    luaL_loadstring(state: State, text: Uint8Array): number;
    luaL_requiref(state: State, name: Uint8Array, open: (state: State) => number, isGlobal: number): void;
  };
  export const lualib: {
    readonly luaopen_base: (state: State) => number;
    readonly luaopen_table: (state: State) => number;
  };
  export function to_luastring(text: string): Uint8Array;
}
