/** Creates an element with properties and children. Texts become text nodes. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> & Record<string, unknown> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes('-') || key === 'role') made.setAttribute(key, String(value));
    else Object.assign(made, { [key]: value });
  }
  made.append(...children);
  return made;
}
