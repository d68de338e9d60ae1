// Types of an extension in TypeScript, by the compiler of this package or of the project. It runs in the sandbox: the project may
// have put anything in the place of the compiler.
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, extname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Clock, ExtensionProblem } from '../../contracts/index.ts'
import type { RunningCommand } from '../../tools/sandbox/index.ts'
import { isInside } from '../../util/is-inside.ts'
import type { ExtensionSandbox, OpenableExtension } from '../process/extension-sandbox.ts'

const deadlineMs = 60_000
const maxProblems = 20
const maxOutputCharacters = 200_000

export interface TypeCheck {
  readonly problems: readonly ExtensionProblem[]
  /** Why the types were not checked. */
  readonly notice?: string
}

interface CheckTypesOptions {
  readonly sandbox: Pick<ExtensionSandbox, 'start'>
  readonly clock: Clock
  readonly workspace: string
  /** For the settings of the compiler. */
  readonly scratch: string
}

export async function checkTypes(found: OpenableExtension, entry: string, options: CheckTypesOptions): Promise<TypeCheck> {
  const compiler = findCompiler(options.workspace)
  if (!compiler) return { problems: [], notice: 'Types were not checked. Install typescript and @types/node in the project.' }
  const { declarations, entry: typesEntry } = ownTypes()
  const settings = join(options.scratch, 'tsconfig.json')
  mkdirSync(options.scratch, { recursive: true })
  writeFileSync(settings, JSON.stringify({ compilerOptions: compilerOptions(compiler.typeRoot, typesEntry), files: [realpathSync(entry)] }))
  const started = await options.sandbox.start(
    { ...found, manifest: { ...found.manifest, permissions: { hosts: [], read: [], write: [] } } },
    {
      argv: [process.execPath, compiler.program, '-p', settings, '--pretty', 'false'],
      dataDir: options.scratch,
      readable: [...compiler.folders, ...declarations],
    },
  )
  if (!started.ok) return { problems: [], notice: `Types were not checked: ${started.failure.message}` }
  const output = await outputOf(started.running, options.clock)
  if (output === undefined) return { problems: [], notice: `Types were not checked: the compiler took more than ${deadlineMs} ms.` }
  return readOutput(output, realpathSync(options.scratch), realpathSync(found.folder))
}

interface Compiler {
  readonly program: string
  readonly folders: readonly string[]
  readonly typeRoot: string
}

/** Prefers the compiler that this package finds: its version is known. */
function findCompiler(workspace: string): Compiler | undefined {
  const places = [import.meta.url, pathToFileURL(join(workspace, 'package.json')).href]
  const folderOf = (name: string, from: string): string | undefined => {
    try {
      const file = findPackageJSON(name, from)
      return file === undefined ? undefined : realpathSync(dirname(file))
    } catch {
      return undefined
    }
  }
  for (const from of places) {
    const [typescript, types] = [folderOf('typescript', from), folderOf('@types/node', from)]
    if (typescript === undefined || types === undefined) continue
    const inside = pathToFileURL(join(typescript, 'package.json')).href
    // The compiler itself may be a package for this platform.
    const native = folderOf(`@typescript/typescript-${process.platform}-${process.arch}`, inside)
    const further = folderOf('undici-types', pathToFileURL(join(types, 'package.json')).href)
    const folders = [typescript, native, types, further].filter((each) => each !== undefined)
    return { program: join(typescript, 'bin', 'tsc'), folders, typeRoot: dirname(types) }
  }
  return undefined
}

/** The types of `troupe/extension`, as source or compiled. */
function ownTypes(): { readonly entry: string; readonly declarations: readonly string[] } {
  const here = fileURLToPath(import.meta.url)
  const isSource = extname(here) === '.ts'
  const base = join(dirname(here), ...(isSource ? ['..', '..'] : ['..']))
  const entry = join(base, isSource ? 'extension.ts' : 'extension.d.ts')
  return { entry, declarations: [entry, join(base, 'contracts')] }
}

/** Modules as Node resolves those of a package with `"type": "module"`: the project's own settings are not visible. */
const compilerOptions = (typeRoot: string, typesEntry: string) => ({
  noEmit: true,
  strict: true,
  target: 'es2024',
  module: 'esnext',
  moduleResolution: 'bundler',
  moduleDetection: 'force',
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true,
  skipLibCheck: true,
  types: ['node'],
  typeRoots: [typeRoot],
  paths: { 'troupe/extension': [typesEntry] },
})

async function outputOf(running: RunningCommand, clock: Clock): Promise<string | undefined> {
  let output = ''
  let isLate = false
  running.pipes?.stdout.setEncoding('utf8').on('data', (piece: string) => {
    if (output.length < maxOutputCharacters) output += piece
  })
  const closed = new Promise((done) => running.pipes?.stdout.once('close', done))
  const cancel = clock.after(deadlineMs, () => {
    isLate = true
    running.kill()
  })
  const { exitCode } = await running.ended
  cancel()
  await closed
  if (isLate) return undefined
  return exitCode === 0 ? '' : output || running.pipes?.errors() || `exit code ${exitCode}`
}

const finding = /^(.+?)\((\d+),(\d+)\): error (TS\d+: .*)$/

function readOutput(output: string, scratch: string, folder: string): TypeCheck {
  if (output === '') return { problems: [] }
  const problems: ExtensionProblem[] = []
  for (const text of output.split('\n')) {
    const [, file = '', line, column, message = ''] = finding.exec(text) ?? []
    const path = resolve(scratch, file)
    if (file !== '' && isInside(folder, path))
      problems.push({ place: `${relative(dirname(folder), path)}:${line}:${column}`, message, remedy: 'Fix the type error.' })
  }
  if (problems.length === 0) return { problems, notice: `Types were not checked: ${output.trim().slice(0, 500)}` }
  return { problems: problems.slice(0, maxProblems) }
}
