import { describeBounds, isWithin, type ReasoningEffort, reasoningEfforts } from '../../contracts/index.ts'
import { foreignToolNames } from '../../policy/foreign-tools.ts'
import { showValue } from '../../util/show-value.ts'
import { didYouMean, listNames } from '../../yaml/messages.ts'
import type { SourceText } from '../../yaml/source-text.ts'
import { allowOnlyCommands } from './command-rules.ts'
import type { Dialect, Draft, ForeignSetting } from './foreign-agent.ts'
import { modelName } from './foreign-models.ts'
import type { KeyRule } from './key-tables.ts'
import { maxRules, permissionRules } from './permission-rules.ts'
import { readServers, toJson, writtenNames } from './setting-values.ts'
import { translateTool } from './translate-tool.ts'

const effortAliases: { readonly [written: string]: ReasoningEffort } = { max: 'xhigh' }
const shell = 'shell'
const notInPart = 'a part of a tool cannot be granted here'
const maxShown = 6
const minute = 60_000
const maxMinutes = 1_000_000

/** What the value must be; `undefined` if it is valid. */
type Expected = string | undefined

/** An invalid value is a problem, not a warning: without a limit or denial, the agent could do more than its author wanted. */
export class SettingReader {
  readonly #dialect: Dialect
  readonly #ownModels: readonly string[]
  readonly #source: SourceText
  readonly #draft: Draft

  constructor({ dialect, models }: { dialect: Dialect; models: readonly string[] }, source: SourceText, draft: Draft) {
    this.#dialect = dialect
    this.#ownModels = models
    this.#source = source
    this.#draft = draft
  }

  take(rule: KeyRule, setting: ForeignSetting): void {
    const expected = this.#read(rule, setting)
    if (expected === undefined) return
    const { key, value, valueAt } = setting
    this.#source.problem(valueAt, `\`${key}\` must be ${expected}, not ${value === null ? 'nothing' : showValue(value, 60)}`)
  }

  #read(rule: KeyRule, setting: ForeignSetting): Expected {
    switch (rule.kind) {
      case 'text':
        return this.#text(setting, rule.into)
      case 'models':
        return this.#models(setting)
      case 'tools':
        return this.#tools(setting)
      case 'denied':
        return this.#denied(setting)
      case 'permissions':
        return this.#permissions(setting)
      case 'names':
        return this.#names(setting, rule.into)
      case 'number':
        return this.#number(setting, rule)
      case 'minutes':
        return this.#minutes(setting)
      case 'effort':
        return this.#effort(setting)
      case 'servers':
        return this.#servers(setting)
      case 'choice':
        return this.#choice(setting, rule)
      case 'metadata':
        this.#draft.metadata.set(setting.key, toJson(setting.value))
        return undefined
      case 'unsupported':
        if (!rule.except?.includes(setting.value)) this.#warn(setting, `\`${setting.key}\` is not supported: ${rule.instead}`)
        return undefined
      default:
        return rule satisfies never
    }
  }

  #text({ value }: ForeignSetting, into: Extract<KeyRule, { kind: 'text' }>['into']): Expected {
    if (typeof value !== 'string' || value.trim() === '') return 'text'
    this.#draft[into] = value.trim()
    return undefined
  }

  #minutes({ value }: ForeignSetting): Expected {
    if (typeof value !== 'number' || !(value > 0 && value <= maxMinutes)) return 'a number of minutes'
    this.#draft.timeBudgetMs = Math.max(1, Math.round(value * minute))
    return undefined
  }

  #servers({ value }: ForeignSetting): Expected {
    const servers = readServers(value)
    if (!servers) return 'a map of servers, each with its configuration'
    this.#draft.mcpServers = servers
    return undefined
  }

  #models(setting: ForeignSetting): Expected {
    const { value } = setting
    const names = typeof value === 'string' ? [value.trim()].filter((name) => name !== '') : writtenNames(value)
    if (!names || names.length === 0) return 'the name of a model'
    const found = names.map((name) => modelName(name, this.#ownModels))
    for (const [index, model] of found.entries()) {
      const written = showValue(names[index], 60)
      if (model.kind === 'unknown')
        this.#warn(
          setting,
          `the model ${written} is unknown; its name is used as written`,
          `Add an alias to the configuration: "models": { ${JSON.stringify(model.name)}: "provider/model" }.`,
        )
      else if (model.kind === 'model' && model.note !== undefined) this.#warn(setting, `the model ${written}: ${model.note}`)
    }
    const taken = found.flatMap((model) => (model.kind === 'inherit' ? [] : [model.name]))
    if (taken.length > 0) this.#draft.models = [...new Set(taken)]
    return undefined
  }

  #tools(setting: ForeignSetting): Expected {
    if (setting.value === null) {
      this.#warn(setting, `\`${setting.key}\` is empty, so the agent has no tools`, 'Remove the key for all tools, or write `[]` for none.')
      this.#draft.tools = { kind: 'only', names: [] }
      return undefined
    }
    const names = writtenNames(setting.value)
    if (!names) return 'a list of names'
    const commands = new Set<string>()
    const granted = names.flatMap((name) => {
      const tool = translateTool(this.#dialect, name)
      if (tool.kind === 'tools') return tool.names
      if (tool.kind === 'partly' && tool.uses) for (const use of tool.uses) commands.add(use)
      else if (tool.kind === 'partly') this.#warn(setting, `${showValue(name, 60)} is left out: ${notInPart}`, this.#commandRemedy(name))
      else
        this.#warn(setting, `${showValue(name, 60)} is left out: there is no such tool`, didYouMean(name, foreignToolNames(this.#dialect)))
      return []
    })
    const isWhole = granted.includes('*') || granted.includes(shell)
    if (commands.size > 0 && !isWhole) this.#allowOnlyCommands(setting, [...commands])
    const only = [...new Set([...granted, ...(commands.size > 0 ? [shell] : [])])]
    this.#draft.tools = granted.includes('*') ? { kind: 'all' } : { kind: 'only', names: only }
    return undefined
  }

  #allowOnlyCommands(setting: ForeignSetting, uses: readonly string[]): void {
    const taken = uses.slice(0, maxRules)
    this.#draft.commandRules = allowOnlyCommands(taken)
    const named = taken.length > maxShown ? [...taken.slice(0, maxShown), '…'] : taken
    this.#warn(
      setting,
      `The agent can run only these commands: ${listNames(named)} (plain commands, in the workspace). They still need approval. All other commands are denied.`,
      `To run one without approval: --allow '${shell}(${taken[0]})'.`,
    )
    if (uses.length > taken.length) this.#warn(setting, `only the first ${maxRules} commands of its shell are used`)
  }

  #commandRemedy(name: string): string | undefined {
    return this.#dialect === 'claude' && /^bash\(/i.test(name) ? 'Write one plain command: `Bash(git log:*)`.' : undefined
  }

  #denied(setting: ForeignSetting): Expected {
    const names = setting.value === null ? [] : writtenNames(setting.value)
    if (!names) return 'a list of names'
    for (const name of names) {
      const tool = translateTool(this.#dialect, name, 'denied')
      if (tool.kind === 'unknown') {
        this.#warn(
          setting,
          `${showValue(name, 60)} denies nothing: there is no such tool`,
          didYouMean(name, foreignToolNames(this.#dialect)),
        )
        continue
      }
      if (tool.kind === 'partly') this.#warn(setting, `${showValue(name, 60)} denies the whole tool here`)
      for (const own of tool.names) this.#draft.denied.add(own)
    }
    return undefined
  }

  #permissions(setting: ForeignSetting): Expected {
    const rules = permissionRules(setting.value)
    if (!rules) return `a map of at most ${maxRules} tools to \`allow\`, \`ask\` or \`deny\``
    this.#draft.rules.push(...rules)
    return undefined
  }

  #names(setting: ForeignSetting, into: 'skills' | 'agents'): Expected {
    const names = writtenNames(setting.value)
    if (!names) return 'a list of names'
    if (into === 'skills' || !names.includes('*')) this.#draft[into] = [...new Set(names)]
    return undefined
  }

  #number({ value }: ForeignSetting, { into, bounds }: Extract<KeyRule, { kind: 'number' }>): Expected {
    if (!isWithin(value, bounds)) return describeBounds(bounds)
    this.#draft[into] = value
    return undefined
  }

  #effort(setting: ForeignSetting): Expected {
    const written = typeof setting.value === 'string' ? setting.value.trim().toLowerCase() : ''
    const alias = Object.hasOwn(effortAliases, written) ? effortAliases[written] : undefined
    const effort = alias ?? reasoningEfforts.find((one) => one === written)
    if (effort === undefined) return `one of ${listNames(reasoningEfforts)}`
    this.#draft.reasoning = effort
    return undefined
  }

  #choice(setting: ForeignSetting, { of }: Extract<KeyRule, { kind: 'choice' }>): Expected {
    const written = ['string', 'boolean'].includes(typeof setting.value) ? String(setting.value) : ''
    const meaning = Object.hasOwn(of, written) ? of[written] : undefined
    if (!meaning) return `one of ${listNames(Object.keys(of))}`
    const { infer, enabled, denied = [], sandbox, warning, refused } = meaning
    if (infer !== undefined) this.#draft.infer = infer
    if (enabled !== undefined) this.#draft.enabled = enabled
    for (const name of denied) this.#draft.denied.add(name)
    if (sandbox) this.#draft.sandbox = sandbox
    if (warning !== undefined) this.#warn(setting, `\`${setting.key}: ${written}\`: ${warning}`)
    if (refused !== undefined) this.#source.problem(setting.valueAt, refused)
    return undefined
  }

  #warn({ at }: ForeignSetting, message: string, remedy?: string): void {
    this.#source.warn(at, message, remedy)
  }
}
