import {
  type Gate,
  isBrought,
  type JsonObject,
  type JsonSchema,
  type Model,
  type ModelAbility,
  type Tool,
  type ToolSpec,
} from '../../contracts/index.ts'
import type { Offering } from '../../core/index.ts'
import { matchesTool, offeredName } from '../../policy/tool-name-patterns.ts'
import { delegateTaskName, isSearchable, useToolName } from '../../policy/tool-search.ts'
import { knownNames } from '../../util/nearest-names.ts'

/** A tool under the name that models know. */
export interface OfferedTool {
  readonly tool: Tool
  readonly name: string
  /** The field for the model's reason: `reason`, or `call_reason` if the tool has a `reason` of its own. Empty: it has none. */
  readonly reasonField: string
  readonly spec: ToolSpec
}

/** The tools that one step offers. Cached. */
export interface Offer extends Offering {
  /** By name, also tools that are not sent and found by search. */
  find(name: string): OfferedTool | undefined
  names(): readonly string[]
  /** Tools that are found by search instead of being sent. */
  readonly searchable: readonly OfferedTool[]
}

/** What gates are checked against. */
interface Facts {
  readonly abilities: readonly ModelAbility[]
  readonly flags: readonly string[]
}

/**
 * All tools of a runtime. Their origin makes no difference.
 *
 * 1. Tools are ordered by name, everywhere.
 * 2. Specs are built once; the same tools, model and flags give the same offer object.
 */
export class ToolRegistry {
  readonly #listed: readonly OfferedTool[]
  readonly #tools: readonly OfferedTool[]
  readonly #byName: ReadonlyMap<string, Tool>
  readonly #own: readonly Tool[]
  readonly #offers = new WeakMap<readonly string[], Map<string, Offer>>()
  /** The last offer: usually the next one is the same. */
  #last: { readonly names: readonly string[]; readonly id: string; readonly flags: readonly string[]; readonly offer: Offer } | undefined

  /** `own` tools belong to the runtime: allowlists do not apply to them. */
  constructor(tools: readonly Tool[], own: readonly Tool[] = []) {
    this.#listed = tools.map(offered).toSorted(byName)
    this.#tools = [...this.#listed, ...own.map(offered)].toSorted(byName)
    this.#byName = new Map(this.#tools.map((each) => [each.name, each.tool]))
    this.#own = own
  }

  /** With further tools. A name that is here already keeps its tool: providers refuse a request that has a name twice. */
  with(tools: readonly Tool[]): ToolRegistry {
    const others = tools.filter((tool) => !this.#byName.has(offered(tool).name))
    return new ToolRegistry([...this.#listed.map(({ tool }) => tool), ...others], this.#own)
  }

  /** The tools of an agent, with those of its client beside them. */
  forClient(allowlist: readonly string[], make: (isTaken: (name: string) => boolean) => readonly Tool[]): ToolRegistry {
    const allowed = this.allowed(allowlist)
    const taken = new Set([...allowed, ...this.#own.map(offered)].map(({ name }) => name))
    const brought = make((name) => taken.has(name))
    return new ToolRegistry([...allowed.map(({ tool }) => tool), ...brought], this.#own)
  }

  /** Names of the tools of the client. */
  get brought(): readonly string[] {
    return this.#listed.flatMap(({ name, tool }) => (isBrought(tool) ? [name] : []))
  }

  /** Tools whose names match the allowlist, gates aside. */
  allowed(allowlist: readonly string[]): readonly OfferedTool[] {
    return this.#listed.filter(({ tool }) => !isBrought(tool) && allowlist.some((pattern) => matchesTool(pattern, tool.name)))
  }

  get tools(): readonly OfferedTool[] {
    return this.#tools
  }

  /** Those that are sent to the model. The others are found by `use_tool` or `delegate_task`, if these are offered. */
  sent(tools: readonly OfferedTool[], offered: ReadonlySet<string>): readonly OfferedTool[] {
    const [isSearched, isDelegated] = [offered.has(useToolName), offered.has(delegateTaskName)]
    if (!isSearched && !isDelegated) return tools
    const isAgent = (tool: Tool): boolean => isDelegated && tool.name.startsWith('agent__') && this.#own.includes(tool)
    return tools.filter(({ tool }) => !(isSearched && isSearchable(tool)) && !isAgent(tool))
  }

  find(name: string): Tool | undefined {
    return this.#byName.get(name)
  }

  /** `names`: the list of a session, always the same object. The cache uses it as a key. */
  offer(names: readonly string[], model: Pick<Model, 'id' | 'abilities'>, flags: readonly string[]): Offer {
    const last = this.#last
    if (last && last.names === names && last.id === model.id && last.flags === flags) return last.offer
    const offer = this.#offerFor(names, model, flags)
    this.#last = { names, id: model.id, flags, offer }
    return offer
  }

  #offerFor(names: readonly string[], model: Pick<Model, 'id' | 'abilities'>, flags: readonly string[]): Offer {
    let offers = this.#offers.get(names)
    if (!offers) {
      offers = new Map()
      this.#offers.set(names, offers)
    }
    const key = flags.length === 0 ? model.id : `${model.id} ${flags.join()}`
    const known = offers.get(key)
    if (known) return known
    const facts = { abilities: model.abilities, flags }
    const wanted = new Set(model.abilities.includes('tools') ? names : [])
    const tools = this.#tools.filter(({ name, tool }) => wanted.has(name) && (tool.requires ?? []).every((gate) => isOpen(gate, facts)))
    const offer = offerOf(tools, this.sent(tools, wanted), wanted.has(useToolName))
    offers.set(key, offer)
    return offer
  }
}

const byName = (a: OfferedTool, b: OfferedTool): number => (a.name < b.name ? -1 : 1)

export function unknownTool(name: string, offer: Offer): { message: string; remedy: string } {
  const names = offer.names()
  const remedy = names.length === 0 ? 'No tools are available. Answer with what you know.' : knownNames(name, names, 'tool')
  return { message: `There is no tool "${name}".`, remedy }
}

function offerOf(tools: readonly OfferedTool[], sent: readonly OfferedTool[], isSearched: boolean): Offer {
  const byName = new Map(tools.map((each) => [each.name, each]))
  for (const each of tools) if (!byName.has(each.tool.name)) byName.set(each.tool.name, each)
  const names = tools.map((each) => each.name)
  return {
    specs: sent.map((each) => each.spec),
    searchable: isSearched ? tools.filter(({ tool }) => isSearchable(tool)) : [],
    instructions: sent.flatMap(({ tool }) => (tool.instructions ? [tool.instructions] : [])).join('\n\n'),
    find: (name) => byName.get(name),
    names: () => names,
  }
}

/** A tool may be in many registries. */
const known = new WeakMap<Tool, OfferedTool>()

function offered(tool: Tool): OfferedTool {
  const before = known.get(tool)
  if (before) return before
  const found = describe(tool)
  known.set(tool, found)
  return found
}

function describe(tool: Tool): OfferedTool {
  const name = offeredName(tool.name)
  // Anywhere in the schema: a reference may lead there.
  if (isBrought(tool))
    return { tool, name, reasonField: '', spec: { name, description: tool.description, inputSchema: asObject(tool.inputSchema) } }
  const reasonField = JSON.stringify(tool.inputSchema).includes('"reason"') ? 'call_reason' : 'reason'
  return { tool, name, reasonField, spec: { name, description: tool.description, inputSchema: withReason(tool.inputSchema, reasonField) } }
}

/** Providers require it. */
const asObject = (schema: JsonSchema): JsonSchema => (schema.type === 'object' ? schema : { ...schema, type: 'object' })

function withReason(schema: JsonSchema, field: string): JsonSchema {
  const reason = { type: 'string', description: 'Why you make this call, in a few words. Shown to the user.' }
  const required = Array.isArray(schema.required) ? schema.required : []
  return {
    ...schema,
    type: 'object',
    properties: { ...(schema.properties as JsonObject), [field]: reason },
    required: [...required, field],
  }
}

function isOpen(gate: Gate, facts: Facts): boolean {
  return 'ability' in gate ? facts.abilities.includes(gate.ability) : facts.flags.includes(gate.flag)
}
