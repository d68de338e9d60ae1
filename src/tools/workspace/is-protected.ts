/** Files that hold secrets or start programs: changing one is never part of a broader permission. */
export function isProtected(relative: string): boolean {
  const parts = relative.toLowerCase().split('/')
  const name = parts.at(-1) ?? ''
  return parts.includes('.git') || protectedNames.test(name)
}

const protectedNames = /^\.env(?:\..*)?$|\.env$|^\.(?:envrc|netrc|npmrc|pypirc)$/
