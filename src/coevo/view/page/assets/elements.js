// Elements without markup: every text is a text node, so names and states stay text.

export function make(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export function makeButton(text, run, attributes = {}) {
  const button = make("button", text, { type: "button", ...attributes });
  button.addEventListener("click", run);
  return button;
}
