// Rows with uncontrolled inputs, keyed by their place: where is the typed text after the list is reversed?
import assert from "node:assert";
import { JSDOM } from "jsdom";

const { window } = new JSDOM("<div id=root></div>");
Object.defineProperty(globalThis, "navigator", { value: window.navigator, configurable: true });
Object.assign(globalThis, { window, document: window.document, IS_REACT_ACT_ENVIRONMENT: true });
const React = (await import("react")).default;
const { createRoot } = await import("react-dom/client");
const h = React.createElement;

const List = ({ items }) =>
  items.map((item, index) => h("label", { key: index, className: item.id }, item.id, h("input")));

const root = createRoot(document.getElementById("root"));
const items = [{ id: "a" }, { id: "b" }, { id: "c" }];
await React.act(() => root.render(h(List, { items })));
document.querySelector(".a input").value = "typed into a";
await React.act(() => root.render(h(List, { items: items.toReversed() })));
assert.equal(
  document.querySelector(".a input").value, "typed into a", "the text stayed in the place and left its item",
);
