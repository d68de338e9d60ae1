import { type AgentChanges, type AgentSpec, type Problem, TroupeError } from '../../contracts/index.ts'
import { matchesTool } from '../../policy/tool-name-patterns.ts'
import type { ToolRegistry } from '../../steps/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { showValue } from '../../util/show-value.ts'

/** A coding agent has 10 to 60. */
const maxClientTools = 1_000
/** What providers accept. */
const toolName = /^[\w-]{1,128}$/

/** Problems of the tools that a client brings, and of its choice. */
export function clientToolProblems(
  { clientTools, toolChoice }: Pick<AgentChanges, 'clientTools' | 'toolChoice'>,
  place: string,
): readonly Problem[] {
  return [...listProblems(clientTools, `${place}.clientTools`), ...choiceProblems(toolChoice, clientTools, `${place}.toolChoice`)]
}

function listProblems(tools: unknown, place: string): readonly Problem[] {
  if (tools === undefined) return []
  if (!Array.isArray(tools)) return [{ place, message: `expected a list of tools, found ${showValue(tools)}`, remedy: shape }]
  if (tools.length > maxClientTools)
    return [{ place, message: `expected ${maxClientTools} tools at most, found ${tools.length}`, remedy: 'Send fewer tools.' }]
  const names = new Set<string>()
  return tools.flatMap((tool: unknown, index) => toolProblems(tool, `${place}.${index}`, names))
}

const shape = 'Pass { name, description, inputSchema } for each tool.'

function toolProblems(tool: unknown, place: string, names: Set<string>): readonly Problem[] {
  const { name, description, inputSchema } = (isPlainObject(tool) ? tool : {}) as { readonly [key: string]: unknown }
  if (typeof name !== 'string' || !toolName.test(name)) {
    const remedy = 'Use letters, digits, _ and -, 128 at most.'
    return [{ place: `${place}.name`, message: `expected the name of a tool, found ${showValue(name)}`, remedy }]
  }
  if (names.has(name))
    return [{ place: `${place}.name`, message: `the tool "${name}" is there twice`, remedy: 'Give each tool a name of its own.' }]
  names.add(name)
  if (typeof description === 'string' && isPlainObject(inputSchema)) return []
  return [{ place, message: 'expected a description and a JSON Schema', remedy: shape }]
}

function choiceProblems(choice: unknown, tools: AgentChanges['clientTools'], place: string): readonly Problem[] {
  if (choice === undefined || choice === 'auto' || choice === 'none') return []
  const known = Array.isArray(tools) ? tools.map(({ name }) => name) : []
  if (choice === 'required' && known.length > 0) return []
  const wanted = isPlainObject(choice) ? choice.tool : undefined
  if (typeof wanted === 'string' && known.includes(wanted)) return []
  const message = `expected auto, none, required or { tool } with a tool of the client, found ${showValue(choice)}`
  return [{ place, message, remedy: known.length === 0 ? 'Send the tools, too.' : `Tools of the client: ${known.join(', ')}.` }]
}

/** Refuses tools that the agent does not allow. @throws TroupeError `usage`. */
export function requireClientTools(agent: AgentSpec, registry: ToolRegistry, { clientTools = [] }: AgentChanges = {}): void {
  if (clientTools.length === 0) return
  const hasOwn = agent.agents.length > 0 || registry.allowed(agent.tools).length > 0
  const { name, clientTools: rule = hasOwn ? 'deny' : 'allow' } = agent
  const refused = clientTools.filter(
    (tool) => rule === 'deny' || (rule !== 'allow' && !rule.some((pattern) => matchesTool(pattern, tool.name))),
  )
  if (refused.length === 0) return
  const shown = refused.slice(0, 5).map((tool) => tool.name)
  const names = [...shown, ...(refused.length > shown.length ? [`${refused.length - shown.length} more`] : [])].join(', ')
  const why =
    rule === 'deny'
      ? agent.clientTools === 'deny'
        ? 'it has `clientTools: deny`'
        : 'it has tools or agents of its own, and no `clientTools`'
      : `its \`clientTools\` are ${(rule as readonly string[]).join(', ')}`
  throw new TroupeError('usage', `The agent "${name}" takes no tools of clients named ${names}: ${why}.`, {
    remedy: 'Set `clientTools: allow` in its agent file, or send no tools.',
  })
}
