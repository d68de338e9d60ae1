import { statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import type { Hook, HookContext, HookDefinition, HookPoint, Problem } from '../../contracts/index.ts'
import { checkShape } from '../../policy/check-shape.ts'
import { hooksShape } from '../../policy/hook-shape.ts'
import { problemsError } from '../../util/option-problems.ts'
import { parseDuration } from '../../util/parse-units.ts'
import { shellWord } from '../../util/shell-word.ts'
import { isProgram, realOrSame, trustedPath } from '../trusted-path.ts'
import { commandAnswer } from './command-hook.ts'
import type { Answer, HookPlace, Questions } from './hook-answer.ts'
import { type CheckedFiles, checkHookFiles, exchangedSince } from './hook-files.ts'
import { HookModule } from './module-hook.ts'

/**
 * The hooks of a configuration, in its order. Files that name them are trusted: modules are loaded here, each in a thread of its
 * own, commands run later.
 *
 * @throws TroupeError `config_invalid` with everything that is wrong: definitions, modules that do not load, programs that
 * are not there.
 */
export async function hooksFrom(definitions: readonly HookDefinition[], place: HookPlace): Promise<readonly Hook[]> {
  const list = place.place ?? 'hooks'
  const wrong = checkHooks(definitions, list)
  if (wrong.length > 0) throw problemsError('config_invalid', 'hooks', wrong)
  const built = await Promise.all(definitions.map((each) => createHook(each, place)))
  const problems = built.flatMap((each, index): readonly Problem[] => {
    if (!('missing' in each)) return []
    const { key, message, remedy } = each.missing
    return [{ place: `${list}[${index}].${key}`, message, remedy }]
  })
  if (problems.length > 0) throw problemsError('config_invalid', 'hooks', problems)
  return built.flatMap((each) => ('hook' in each ? [each.hook] : []))
}

type BuiltHook = { readonly hook: Hook } | { readonly missing: MissingPart }

interface MissingPart {
  readonly key: 'command' | 'module'
  readonly message: string
  readonly remedy: string
}

/** The definition is already checked. */
export async function createHook(definition: HookDefinition, place: HookPlace): Promise<BuiltHook> {
  const { baseDir, trusted, writable = [] } = place
  if (definition.command === undefined) {
    const module = new HookModule(definition, place)
    const missing = await module.missing()
    if (missing) return { missing: { ...missing, key: 'module' } }
    return { hook: { ...hookOf(definition, module.answer), close: () => module.close() } }
  }
  const [program = ''] = definition.command
  const file = findProgram(program, place)
  if (file === undefined) return { missing: { key: 'command', ...whyMissing(program, baseDir) } }
  // A program given by path is compared with its trusted hash; one given by name is not.
  if (!program.includes('/') && trustedPath(writable, file).length === 0) return { missing: { key: 'command', ...whyOpen(program, file) } }
  const answer = commandAnswer(definition.name, definition.command, place)
  return { hook: hookOf(definition, trusted ? onlyBy(() => checkHookFiles(definition, baseDir, trusted), answer) : answer) }
}

/** Checks the files before and after each answer. */
function onlyBy(check: () => CheckedFiles, answer: Answer): Answer {
  return async (point, view, context) => {
    const checked = check()
    if (!checked.ok) throw new Error(checked.why)
    const verdict = await answer(point, view, context)
    const exchanged = exchangedSince(checked.files)
    if (exchanged !== undefined) throw new Error(exchanged)
    return verdict
  }
}

function hookOf({ name, on, tools, onFailure, timeout }: HookDefinition, answer: Answer): Hook {
  const asks = <P extends HookPoint>(point: P) =>
    on.includes(point) ? (view: Questions[P]['view'], context: HookContext) => answer(point, view, context) : undefined
  const [beforeCall, afterCall, beforeRequest, atStop] = [asks('before_call'), asks('after_call'), asks('before_request'), asks('at_stop')]
  const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout)
  return {
    name,
    onFailure,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(tools && { tools }),
    ...(beforeCall && { beforeCall }),
    ...(afterCall && { afterCall }),
    ...(beforeRequest && { beforeRequest }),
    ...(atStop && { atStop }),
  }
}

function whyMissing(program: string, baseDir: string): Pick<MissingPart, 'message' | 'remedy'> {
  const named = JSON.stringify(program)
  if (!program.includes('/')) return { message: `program ${named} not found`, remedy: 'Install it, or use its absolute path.' }
  const file = resolve(baseDir, program)
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) return { message: `program ${named} not found`, remedy: `Check the path; it is relative to ${baseDir}.` }
  if (!found.isFile()) return { message: `${named} is not a file`, remedy: 'Name a program.' }
  const words = interpreterOf(program).map((word) => JSON.stringify(word))
  return {
    message: `the file ${named} is not executable`,
    remedy: `Run chmod +x ${shellWord(file)}${words.length > 0 ? `, or name its interpreter: [${words.join(', ')}]` : ''}`,
  }
}

const whyOpen = (program: string, file: string): Pick<MissingPart, 'message' | 'remedy'> => ({
  message: `the program ${JSON.stringify(program)} resolves to ${file}, in a folder that agents can write to`,
  remedy: `To use it, give its absolute path: ${JSON.stringify(realOrSame(file))}. Troupe then checks it before each start.`,
})

function interpreterOf(program: string): readonly string[] {
  if (/\.[cm]?js$/.test(program)) return ['node', program]
  if (program.endsWith('.py')) return ['python3', program]
  return program.endsWith('.sh') ? ['sh', program] : []
}

/** All problems of the hooks of a configuration. `place` is the key of the list. */
export function checkHooks(definitions: unknown, place: string): readonly Problem[] {
  const problems: Problem[] = []
  if (definitions !== undefined) checkShape(problems, definitions, { shape: hooksShape, place })
  return problems
}

/** The file of a program, found as the system does. */
function findProgram(program: string, { baseDir, environment }: Pick<HookPlace, 'baseDir' | 'environment'>): string | undefined {
  const folders = program.includes('/') ? [''] : (environment.PATH ?? '/usr/bin:/bin').split(delimiter)
  return folders.map((folder) => (folder === '' ? resolve(baseDir, program) : join(folder, program))).find(isProgram)
}
