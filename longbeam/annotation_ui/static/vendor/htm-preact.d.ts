// Types of the vendored module: Preact's own, from the development dependency `preact`.
export { Component, createContext, h, render } from "preact";
export { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
export function html(strings: TemplateStringsArray, ...values: unknown[]): import("preact").VNode;
