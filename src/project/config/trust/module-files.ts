import { realpathSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ConfigFileSystem } from '../files/config-file-system.ts'
import { contentHash, type FileState } from './trust-records.ts'

// Trust in a module includes the current content of the files that it imports by path, directly or indirectly. Each file has its own
// record. Packages are not covered. Paths that the code computes are refused when the module is loaded.

const code = /\.[cm]?[jt]s$/

export const isModuleFile = (path: string): boolean => code.test(path)

/** Far more than tools need; every file is read. */
const maxFiles = 500

type ModuleFiles = { readonly ok: true; readonly files: readonly FileState[] } | { readonly ok: false; readonly why: string }

/** The module and the files that it imports by path, as they are now. Real paths; the module is the first. */
export async function readModuleFiles(files: ConfigFileSystem, entry: string): Promise<ModuleFiles> {
  const found = new Map<string, FileState>()
  const waiting = new Set([entry])
  for (const path of waiting) {
    if (waiting.size > maxFiles) return { ok: false, why: `it imports more than ${maxFiles} files` }
    const content = await files.read(path).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
    if (content === undefined) return { ok: false, why: `there is no ${path}` }
    if (content instanceof Error) return { ok: false, why: `${path} cannot be read: ${content.message}` }
    found.set(path, { path, sha256: contentHash(content) })
    if (!isModuleFile(path)) continue
    const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
    for (const imported of importedPaths(text, path)) waiting.add(imported)
  }
  return { ok: true, files: [...found.values()] }
}

/** Adds the files that modules import. */
export async function withImportedFiles(files: ConfigFileSystem, states: readonly FileState[]): Promise<readonly FileState[]> {
  const all = new Map<string, FileState>()
  for (const state of states) {
    const read = isModuleFile(state.path) ? await readModuleFiles(files, state.path) : undefined
    for (const each of read?.ok ? read.files : []) all.set(each.path, each)
  }
  for (const state of states) all.set(state.path, state)
  return [...all.values()]
}

const path = '((?:\\.{1,2}/|/|file:)[^\'"`\\n]*)'
/** After `from`, `import` or `require`; elsewhere any text that looks like the path of a module, also behind comments. */
const imports = [
  new RegExp(`\\b(?:from|import|require)\\s*\\(?\\s*(['"\`])${path}\\1`, 'g'),
  new RegExp(`(['"\`])${path}\\1`, 'g'),
] as const

function importedPaths(text: string, importer: string): readonly string[] {
  const written = imports.flatMap((pattern, index) =>
    [...text.matchAll(pattern)].flatMap(([, , name = '']) => (index === 0 || isModuleFile(name) ? [name] : [])),
  )
  return [...new Set(written)].flatMap((name) => resolved(name, importer) ?? [])
}

/** `require` may omit the end of a path. A file that does not exist is not imported. */
const endings = ['', '.js', '.cjs', '.json', '.ts', '.cts', '/index.js', '/index.cjs']

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

function resolved(name: string, importer: string): string | undefined {
  try {
    const base = fileURLToPath(new URL(name, pathToFileURL(importer)))
    const found = (extname(base) === '' ? endings : ['']).map((ending) => `${base}${ending}`).find(isFile)
    return found === undefined ? undefined : realpathSync(found)
  } catch {
    return undefined
  }
}
