import { type Confinement, type Problem, TroupeError } from '../contracts/index.ts'
import { invalid } from '../util/config-problems.ts'
import { nearestNames } from '../util/nearest-names.ts'
import { showValue } from '../util/show-value.ts'
import type { RuntimeOptions } from './agent-runtime.ts'
import { checkHookObjects } from './check-hook-objects.ts'
import { checkWholeSandbox } from './check-policies.ts'
import { wallProblems } from './check-walls.ts'
import type { AgentLoopConfig } from './config.ts'
import { resolveConfig } from './resolve-config.ts'

/** What each option must be able to do; the names of functions that it must have. */
const ports: { readonly [Key in keyof Required<RuntimeOptions>]: { readonly methods: readonly string[]; readonly what: string } } = {
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
  if (typeof options !== 'object' || options === null) {
    throw invalid([{ place: 'options', message: `expected an object, found ${showValue(options)}`, remedy: 'Give config and adapter.' }])
  }
  const problems: Problem[] = []
  for (const key of Object.keys(options)) {
    if (key in ports) continue
    const [near] = nearestNames(key, Object.keys(ports))
    problems.push({
      place: key,
      message: 'unknown option',
      remedy: near ? `Did you mean "${near}"?` : `Known options: ${Object.keys(ports).join(', ')}.`,
    })
  }
  for (const [key, { methods, what }] of Object.entries(ports)) {
    const given = options[key as keyof RuntimeOptions]
    if (given === undefined && key !== 'adapter') continue
    const isWhole =
      typeof given === 'object' && given !== null && methods.every((method) => typeof Reflect.get(given, method) === 'function')
    const isAdapter = key !== 'adapter' || (isWhole && isModelOrAdapter(given))
    const isStore = key !== 'store' || (isWhole && ['journal', 'inbox', 'blobs', 'trees'].every((part) => Reflect.get(given, part)))
    if (!isWhole || !isAdapter || !isStore)
      problems.push({ place: key, message: `expected ${what}, found ${showValue(given)}`, remedy: wrapping(given) ?? needs(methods) })
  }
  problems.push(
    ...checkHookObjects(options.hooks),
    ...sandboxProblems(options.sandbox),
    ...wallProblems(options.config, options.sandbox),
    ...originProblems(options.origin),
  )
  if (problems.length === 0) return
  throw invalid(problems.some(({ place }) => place === 'config') ? problems : [...configProblems(options.config), ...problems])
}

/** Whoever has to mend the options mends what is wrong with the configuration in the same go. */
function configProblems(config: AgentLoopConfig): readonly Problem[] {
  try {
    resolveConfig(config)
    return []
  } catch (error) {
    if (error instanceof TroupeError) return error.problems
    throw error
  }
}

function isModelOrAdapter(given: object): boolean {
  const { id, abilities, stream, resolve } = given as { readonly [key: string]: unknown }
  return typeof resolve === 'function' || (typeof stream === 'function' && typeof id === 'string' && Array.isArray(abilities))
}

/** Models of other frameworks are welcome, through their adapter. */
function wrapping(given: unknown): string | undefined {
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

const needs = (methods: readonly string[]): string =>
  methods.length > 0 ? `It needs ${methods.map((method) => `${method}()`).join(', ')}.` : 'Give one.'
