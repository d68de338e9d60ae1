import type { Confinement, Problem } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { messageOf } from '../../util/message-of.ts'
import { knownNames } from '../../util/nearest-names.ts'
import { aString, checkFields, configError, type FieldType, optional } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import type { RuntimeOptions } from '../options/agent-runtime.ts'
import { configProblems } from './check-config.ts'
import { checkHookObjects } from './check-hook-objects.ts'
import { checkSandbox, knownToolsOf } from './check-policies.ts'
import { missingSandboxProblems } from './check-sandbox.ts'
import { checkMcpOptions } from './check-servers.ts'
import { readableCopy } from './readable-copy.ts'

/** The methods that an option must have, and what it is. */
interface Port {
  readonly methods: readonly string[]
  readonly what: string
}

const ports: { readonly [Key in keyof Required<RuntimeOptions>]: Port } = {
  config: { methods: [], what: 'an object with agents' },
  adapter: { methods: [], what: 'a model, or an object with resolve(name)' },
  recipe: { methods: ['decide', 'assemble'], what: 'a recipe' },
  store: { methods: ['close'], what: 'a store, such as memoryStore()' },
  approver: { methods: ['decide'], what: 'an approver' },
  grants: { methods: ['list', 'add'], what: 'grants of a project' },
  sandbox: { methods: [], what: 'an object with confinement' },
  hooks: { methods: [], what: 'a list of hooks' },
  mcp: { methods: [], what: 'an object with the ports of MCP servers' },
  clock: { methods: ['now', 'monotonic', 'after'], what: 'a clock' },
  ids: { methods: ['next'], what: 'a source of ids' },
  modelHealth: { methods: ['note', 'until'], what: 'a ModelHealth' },
  budgetOf: { methods: [], what: 'a function' },
  origin: { methods: [], what: 'an object with workspace' },
}

/** @throws TroupeError `config_invalid` with every problem. */
export function checkOptions(options: RuntimeOptions): void {
  const problems = problemsOf(options)
  if (problems.length > 0) throw configError(problems)
}

/** If something cannot be read, that is reported along with the other problems. */
function problemsOf(options: RuntimeOptions): readonly Problem[] {
  try {
    return optionProblems(options)
  } catch (error) {
    const { copy, problems } = readableCopy(options)
    const places = new Set(problems.map(({ place }) => place))
    const others = places.has('options') ? [] : optionProblems(copy as RuntimeOptions).filter(({ place }) => !places.has(place))
    if (problems.length + others.length > 0) return [...problems, ...others]
    throw error
  }
}

function optionProblems(options: RuntimeOptions): readonly Problem[] {
  if (!isRecord(options))
    return [{ place: 'options', message: `expected an object, found ${showValue(options)}`, remedy: 'Pass config and adapter.' }]
  const problems: Problem[] = []
  for (const key of Object.keys(options)) {
    if (Object.hasOwn(ports, key)) continue
    problems.push({ place: key, message: 'unknown option', remedy: knownNames(key, Object.keys(ports), 'option') })
  }
  for (const [key, port] of Object.entries(ports)) problems.push(...portProblems(key, options[key as keyof RuntimeOptions], port))
  problems.push(
    ...checkHookObjects(options.hooks, knownToolsOf(options.config)),
    ...sandboxProblems(options.sandbox),
    ...missingSandboxProblems(options.config, options.sandbox),
  )
  if (isRecord(options.mcp)) checkMcpOptions(problems, options.mcp)
  if (isRecord(options.origin)) checkFields(problems, options.origin, { fields: originFields, place: 'origin' })
  return problems.some(({ place }) => place === 'config') ? problems : [...configProblems(options.config), ...problems]
}

function portProblems(key: string, given: unknown, { methods, what }: Port): readonly Problem[] {
  if (key === 'hooks' || (given === undefined && key !== 'adapter' && key !== 'config')) return []
  try {
    if (key === 'budgetOf' ? typeof given === 'function' : hasMethods(given, methods) && isFitting(key, given)) return []
  } catch (error) {
    return [{ place: key, message: `cannot be read: ${messageOf(error)}`, remedy: `Pass ${what}.` }]
  }
  const needed = methods.length > 0 ? `It needs ${methods.map((method) => `${method}()`).join(', ')}.` : `Pass ${what}.`
  return [{ place: key, message: `expected ${what}, found ${showValue(given)}`, remedy: wrapRemedy(given) ?? needed }]
}

/** What an option needs besides its methods. */
function isFitting(key: string, given: Record<string, unknown>): boolean {
  if (key === 'adapter') return isModelOrAdapter(given)
  return key !== 'store' || Object.entries(storeParts).every(([part, methods]) => hasMethods(given[part], methods))
}

const storeParts = {
  journal: ['claim', 'release', 'append', 'read', 'watch'],
  inbox: ['add', 'read', 'watch'],
  blobs: ['put', 'get'],
  trees: ['get', 'list'],
}

const hasMethods = (given: unknown, methods: readonly string[]): given is Record<string, unknown> =>
  isRecord(given) && methods.every((method) => typeof given[method] === 'function')

function isModelOrAdapter({ id, abilities, stream, resolve }: Record<string, unknown>): boolean {
  return typeof resolve === 'function' || (typeof stream === 'function' && typeof id === 'string' && Array.isArray(abilities))
}

/** How to pass a model of another framework. */
function wrapRemedy(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const wrap = (name: string): string => `Wrap it: ${name}(model), from troupe/models.`
  if ('specificationVersion' in given) return wrap('fromAiSdk')
  if ('lc_namespace' in given || 'bindTools' in given) return wrap('fromLangChain')
  return 'chat' in given && 'complete' in given ? wrap('fromLlamaIndex') : undefined
}

/** The origin is recorded in the journal: strings only. */
const path: FieldType = { ...aString, expected: 'a path', remedy: 'Pass an absolute path.' }
const originFields = {
  workspace: path,
  agentFile: optional(path),
  command: optional(aString),
  flags: optional({
    expected: 'a list of flags',
    remedy: 'Pass { name, value } for each, both strings.',
    accepts: (flags) => Array.isArray(flags) && flags.every(isFlag),
  }),
} satisfies { readonly [Key in keyof Required<NonNullable<RuntimeOptions['origin']>>]: FieldType }

const isFlag = (flag: unknown): boolean =>
  isRecord(flag) && 'name' in flag && 'value' in flag && Object.values(flag).every((value) => typeof value === 'string')

function sandboxProblems(sandbox: RuntimeOptions['sandbox']): readonly Problem[] {
  const confinement: Partial<Extract<Confinement, { kind: 'sandbox' }>> | { readonly kind: 'none' } | undefined = sandbox?.confinement
  if (sandbox === undefined || confinement?.kind === 'none') return []
  const problems: Problem[] = []
  if (confinement?.kind !== 'sandbox' || typeof confinement.name !== 'string')
    problems.push({
      place: 'sandbox.confinement',
      message: `expected { kind: "none" } or { kind: "sandbox", name }, found ${showValue(confinement)}`,
    })
  else if (confinement.policy !== undefined)
    checkSandbox(problems, confinement.policy, { place: 'sandbox.confinement.policy', isComplete: true })
  return problems
}
