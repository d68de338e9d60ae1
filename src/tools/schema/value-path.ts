/** The keys of a JSON Pointer. */
export function pathKeys(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** `/tags/2` as people write it: `tags[2]`. Needs the value to tell items from properties. Empty at the root. */
export function readablePath(pointer: string, value: unknown): string {
  let text = ''
  let at = value
  for (const key of pathKeys(pointer)) {
    if (Array.isArray(at)) text += `[${key}]`
    else if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) text += text === '' ? key : `.${key}`
    else text += `[${JSON.stringify(key)}]`
    at = typeof at === 'object' && at !== null ? (at as { readonly [key: string]: unknown })[key] : undefined
  }
  return text
}
