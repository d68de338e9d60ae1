/**
 * Whether a path is that of a folder or of something below it, by its letters: links are for whoever opens it. Both are absolute;
 * a relative path is inside of nothing, since only a process knows where it starts.
 */
export function isInside(folder: string, path: string): boolean {
  const [around, inner] = [tidied(folder), tidied(path)]
  if (around === undefined || inner === undefined) return false
  return inner === around || inner.startsWith(`${around}/`)
}

const drive = /^[a-z]:(?=[\\/])/i
const untidy = /\/(?:\.{0,2}(?:\/|$))/

/** Without what leads nowhere (`//`, `.`, `..`, a slash at the end), so that the root itself is the empty text. */
function tidied(path: string): string | undefined {
  const root = drive.exec(path)?.[0].toLowerCase() ?? ''
  if (root !== '') return root + resolved(path.slice(root.length).replaceAll('\\', '/').toLowerCase())
  return path.startsWith('/') ? resolved(path) : undefined
}

function resolved(path: string): string {
  if (!untidy.test(path)) return path
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.map((part) => `/${part}`).join('')
}
