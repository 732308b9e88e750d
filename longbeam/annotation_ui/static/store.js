// One state, changed by `set` only; views are drawn again after each change.

/**
 * @template T
 * @param {T} initial
 */
export function createStore(initial) {
  let state = initial;
  const listeners = new Set();
  return {
    get: () => state,
    /** @param {Partial<T> | ((state: T) => Partial<T>)} change */
    set(change) {
      const changed = typeof change === "function" ? change(state) : change;
      state = { ...state, ...changed };
      for (const listener of listeners) listener(state);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
