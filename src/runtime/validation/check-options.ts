import type { Confinement, Problem } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { configError, isRecord } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import { knownNames } from '../../util/suggestion.ts'
import type { RuntimeOptions } from '../api/agent-runtime.ts'
import { configProblems } from '../api/resolve-config.ts'
import { checkHookObjects } from './check-hook-objects.ts'
import { checkWholeSandbox, knownTools } from './check-policies.ts'
import { missingSandboxProblems } from './check-sandbox.ts'
import { readableCopy } from './readable-copy.ts'

/** What each option must be able to do; the names of functions that it must have. */
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
  clock: { methods: ['now', 'monotonic', 'after'], what: 'a clock' },
  ids: { methods: ['next'], what: 'a source of ids' },
  modelHealth: { methods: ['note', 'until'], what: 'a ModelHealth' },
  origin: { methods: [], what: 'an object with workspace' },
}

/** @throws TroupeError `config_invalid` with every problem at once. */
export function checkOptions(options: RuntimeOptions): void {
  const problems = problemsOf(options)
  if (problems.length > 0) throw configError(problems)
}

/** Where something cannot be read, that is told with all that is wrong beside it. */
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
    return [{ place: 'options', message: `expected an object, found ${showValue(options)}`, remedy: 'Give config and adapter.' }]
  const problems: Problem[] = []
  for (const key of Object.keys(options)) {
    if (Object.hasOwn(ports, key)) continue
    problems.push({ place: key, message: 'unknown option', remedy: knownNames(key, Object.keys(ports), 'option') })
  }
  for (const [key, port] of Object.entries(ports)) problems.push(...portProblems(key, options[key as keyof RuntimeOptions], port))
  problems.push(
    ...checkHookObjects(options.hooks, knownTools(options.config)),
    ...sandboxProblems(options.sandbox),
    ...missingSandboxProblems(options.config, options.sandbox),
    ...originProblems(options.origin),
  )
  return problems.some(({ place }) => place === 'config') ? problems : [...configProblems(options.config), ...problems]
}

function portProblems(key: string, given: unknown, { methods, what }: Port): readonly Problem[] {
  if (given === undefined && key !== 'adapter' && key !== 'config') return []
  if (key === 'hooks') return []
  try {
    const isWhole = isRecord(given) && methods.every((method) => typeof given[method] === 'function') && isFitting(key, given)
    if (isWhole) return []
  } catch (error) {
    return [{ place: key, message: `it cannot be read: ${messageOf(error)}`, remedy: `Give ${what}.` }]
  }
  return [{ place: key, message: `expected ${what}, found ${showValue(given)}`, remedy: wrapRemedy(given) ?? neededMethods(methods) }]
}

/** What an option needs beside its methods. */
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

const hasMethods = (given: unknown, methods: readonly string[]): boolean =>
  isRecord(given) && methods.every((method) => typeof given[method] === 'function')

function isModelOrAdapter(given: object): boolean {
  const { id, abilities, stream, resolve } = given as { readonly [key: string]: unknown }
  return typeof resolve === 'function' || (typeof stream === 'function' && typeof id === 'string' && Array.isArray(abilities))
}

/** Models of other frameworks are welcome, through their adapter. */
function wrapRemedy(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const wrap = (name: string): string => `Wrap it: ${name}(model), from troupe/models.`
  if ('specificationVersion' in given) return wrap('fromAiSdk')
  if ('lc_namespace' in given || 'bindTools' in given) return wrap('fromLangChain')
  return 'chat' in given && 'complete' in given ? wrap('fromLlamaIndex') : undefined
}

/** It ends up in the journal: texts and nothing else. */
function originProblems(origin: unknown): readonly Problem[] {
  if (typeof origin !== 'object' || origin === null) return []
  const { workspace, agentFile = '', flags = [] } = origin as { readonly [key: string]: unknown }
  const areFlags = Array.isArray(flags) && flags.every((flag: unknown) => isRecordOfTexts(flag) && 'name' in flag && 'value' in flag)
  const wrong = areFlags
    ? []
    : [
        {
          place: 'origin.flags',
          message: `expected a list of flags, found ${showValue(flags)}`,
          remedy: 'Give { name, value } for each, both texts.',
        },
      ]
  const paths = Object.entries({ workspace, agentFile })
    .filter(([, value]) => typeof value !== 'string')
    .map(([key, value]) => ({
      place: `origin.${key}`,
      message: `expected a path, found ${showValue(value)}`,
      remedy: 'Give an absolute path.',
    }))
  return [...paths, ...wrong]
}

const isRecordOfTexts = (given: unknown): given is object =>
  typeof given === 'object' && given !== null && Object.values(given).every((value) => typeof value === 'string')

function sandboxProblems(sandbox: RuntimeOptions['sandbox']): readonly Problem[] {
  const confinement: Partial<Extract<Confinement, { kind: 'sandbox' }>> | { readonly kind: 'none' } | undefined = sandbox?.confinement
  if (sandbox === undefined || confinement?.kind === 'none') return []
  const problems: Problem[] = []
  if (confinement?.kind !== 'sandbox' || typeof confinement.name !== 'string')
    problems.push({
      place: 'sandbox.confinement',
      message: `expected { kind: "none" } or { kind: "sandbox", name }, found ${showValue(confinement)}`,
      remedy: 'Say how calls are confined.',
    })
  else if (confinement.policy !== undefined) checkWholeSandbox(problems, confinement.policy, 'sandbox.confinement.policy')
  return problems
}

const neededMethods = (methods: readonly string[]): string =>
  methods.length > 0 ? `It needs ${methods.map((method) => `${method}()`).join(', ')}.` : 'Give one.'
