import { guardedSettings, startFiles } from '../../policy/protected-paths.ts'

/** Files that hold secrets, start programs or decide what runs: changing one is never part of a broader permission. */
export function isProtected(relative: string): boolean {
  const parts = relative.toLowerCase().split('/')
  const name = parts.at(-1) ?? ''
  return parts.some((part) => part === '.git' || guarded.has(part)) || secrets.test(name)
}

/** Wherever they stand: a folder of the workspace may be another program's root, or a home. */
const guarded = new Set([...guardedSettings, ...startFiles])
const secrets = /^\.env(?:\..*)?$|\.env$|^\.(?:netrc|npmrc|pypirc)$/
