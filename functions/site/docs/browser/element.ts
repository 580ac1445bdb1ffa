/** Creates an element with properties and children. Texts become text nodes. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> & Record<string, unknown> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes('-') || key === 'role') element.setAttribute(key, String(value));
    else Object.assign(element, { [key]: value });
  }
  element.append(...children);
  return element;
}
