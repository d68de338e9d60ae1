/**
 * Makes the children of an element those of another one. What is the same stays in the page: its selection, its focus and how far it was
 * scrolled, and nothing flashes while a text grows. `from` is used up.
 */
export function updateChildren(element: Node, from: Node): void {
  const [now, next] = [[...element.childNodes], [...from.childNodes]]
  for (const [index, wanted] of next.entries()) {
    const there = now[index]
    if (!there) element.appendChild(wanted)
    else if (!there.isEqualNode(wanted)) updateNode(there, wanted)
  }
  for (const each of now.slice(next.length)) each.remove()
}

function updateNode(there: ChildNode, wanted: ChildNode): void {
  if (there instanceof Text && wanted instanceof Text) there.data = wanted.data
  else if (there instanceof Element && wanted instanceof Element && there.tagName === wanted.tagName) {
    updateAttributes(there, wanted)
    updateChildren(there, wanted)
  } else there.replaceWith(wanted)
}

function updateAttributes(there: Element, wanted: Element): void {
  for (const name of there.getAttributeNames()) if (!wanted.hasAttribute(name)) there.removeAttribute(name)
  for (const { name, value } of wanted.attributes) if (there.getAttribute(name) !== value) there.setAttribute(name, value)
}
