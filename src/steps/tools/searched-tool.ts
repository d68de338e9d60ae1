import type { AgentCard, CallPart, JsonObject, ToolFailure } from '../../contracts/index.ts'
import { delegateTaskName, useToolName } from '../../policy/tool-search.ts'
import { parseJsonObject } from '../../util/json-values.ts'
import { knownNames } from '../../util/nearest-names.ts'
import { type Offer, type OfferedTool, unknownTool } from './tool-registry.ts'

/** The tool of a call and the JSON text of its arguments. */
type FoundTool =
  | { readonly kind: 'found'; readonly offered: OfferedTool; readonly input: string }
  | { readonly kind: 'refused'; readonly failure: ToolFailure }

/** A call of `use_tool` is a call of its target: rules, lane and view are those of the target. */
export function findTool(offer: Offer, { name, input }: CallPart, agents: () => readonly AgentCard[]): FoundTool {
  const offered = offer.find(name)
  if (!offered) return refused({ class: 'unknown_tool', ...unknownTool(name, offer) })
  if (offered.name === delegateTaskName) return findReplacement(offer, input, agents()) ?? { kind: 'found', offered, input }
  return offered.name === useToolName ? findTarget(offer, input) : { kind: 'found', offered, input }
}

function findTarget(offer: Offer, text: string): FoundTool {
  const { tool, input: sent = {}, reason } = parseJsonObject(text) ?? {}
  // Some models send nested objects as text.
  const input = typeof sent === 'string' ? parseJsonObject(sent) : sent
  const wanted = typeof tool === 'string' ? offer.find(tool) : undefined
  if (!wanted || wanted.name === useToolName) {
    const message = typeof tool === 'string' ? `There is no tool "${tool}".` : 'Expected the name of a tool in "tool".'
    const names = offer.searchable.map((each) => each.name)
    return refused({
      class: 'unknown_tool',
      message,
      remedy: `${knownNames(String(tool ?? ''), names, 'tool')} find_tools describes them.`,
    })
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return refused({ class: 'invalid_input', message: 'Expected an object in "input".', remedy: 'find_tools shows the input of a tool.' })
  const given = reason === undefined || wanted.reasonField in input ? input : { ...input, [wanted.reasonField]: reason }
  return { kind: 'found', offered: wanted, input: JSON.stringify(given) }
}

/** A call of `delegate_task` for an agent whose tool is replaced is a call of that tool. A text is its only required text. */
function findReplacement(offer: Offer, text: string, agents: readonly AgentCard[]): FoundTool | undefined {
  const { agent, prompt, input, reason } = parseJsonObject(text) ?? {}
  const card = agents.find(({ name }) => name === agent || `agent__${name}` === agent)
  const offered = card?.tool && offer.find(card.tool.name)
  if (!offered) return undefined
  const { required = [] } = offered.tool.inputSchema as { readonly required?: readonly string[] }
  const [field] = required
  const given = input ?? (required.length === 1 && field !== undefined && typeof prompt === 'string' ? { [field]: prompt } : {})
  return { kind: 'found', offered, input: JSON.stringify({ ...(given as JsonObject), [offered.reasonField]: reason }) }
}

const refused = (failure: ToolFailure): FoundTool => ({ kind: 'refused', failure })
