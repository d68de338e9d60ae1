/** Whether a path is a folder or below it, by its text: links are not resolved. A relative path is inside of nothing. */
export function isInside(folder: string, path: string): boolean {
  const [around, inner] = [normalized(folder), normalized(path)]
  if (around === undefined || inner === undefined) return false
  return inner === around || inner.startsWith(`${around}/`)
}

const drive = /^[a-z]:(?=[\\/])/i
const needsResolving = /\/(?:\.{0,2}(?:\/|$))/

/** Without `//`, `.`, `..` and a final slash; the root is the empty text. */
function normalized(path: string): string | undefined {
  const root = drive.exec(path)?.[0].toLowerCase() ?? ''
  if (root !== '') return root + resolved(path.slice(root.length).replaceAll('\\', '/').toLowerCase())
  return path.startsWith('/') ? resolved(path) : undefined
}

function resolved(path: string): string {
  if (!needsResolving.test(path)) return path
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.map((part) => `/${part}`).join('')
}
