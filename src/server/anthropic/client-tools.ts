import type { ClientTool, JsonObject, SessionSettings, ToolChoice } from '../../contracts/index.ts'
import { HttpError } from '../http/index.ts'
import type { MessagesBody, WireClientTool } from './request-schema.ts'

type WireTool = NonNullable<MessagesBody['tools']>[number]
type WireChoice = NonNullable<MessagesBody['tool_choice']>

export interface BroughtTools {
  readonly settings: Pick<SessionSettings, 'clientTools' | 'toolChoice'>
  /** An answer has one call at most. */
  readonly oneCall: boolean
  /** Tools that the client does not run, for the header that names what has no effect. */
  readonly ignored: readonly string[]
}

/** The tools of a client. Those with another type than `custom` are left out: Anthropic runs or defines them. */
export function readTools({ tools, tool_choice: choice }: Pick<MessagesBody, 'tools' | 'tool_choice'>): BroughtTools {
  const all = tools ?? []
  const clientTools = all.filter(isClientTool).map(({ name, description, input_schema: inputSchema }): ClientTool => {
    return { name, description: description ?? '', inputSchema: inputSchema as JsonObject }
  })
  for (const [index, tool] of all.entries())
    if (isClientTool(tool) && all.findIndex((other) => isClientTool(other) && other.name === tool.name) < index)
      throw invalid(`tools.${index}.name`, `the tool "${tool.name}" is there twice`, 'Give each tool a name of its own.')
  const ignored = [...new Set(all.flatMap((tool) => (isClientTool(tool) ? [] : [`tools.${tool.type}`])))]
  const toolChoice = choiceOf(choice ?? { type: 'auto' }, clientTools)
  const oneCall =
    choice !== null && choice !== undefined && 'disable_parallel_tool_use' in choice && choice.disable_parallel_tool_use === true
  return { settings: clientTools.length > 0 ? { clientTools, toolChoice } : {}, oneCall, ignored }
}

const isClientTool = (tool: WireTool): tool is WireClientTool => tool.type === undefined || tool.type === null || tool.type === 'custom'

function choiceOf(choice: WireChoice, tools: readonly ClientTool[]): ToolChoice {
  if (choice.type === 'auto' || choice.type === 'none') return choice.type
  if (tools.length === 0) throw invalid('tool_choice', 'there are no tools of the client to choose from', 'Send the tools, too.')
  if (choice.type === 'any') return 'required'
  if (tools.some(({ name }) => name === choice.name)) return { tool: choice.name }
  throw invalid('tool_choice.name', `there is no tool "${choice.name}"`, `Use one of ${tools.map(({ name }) => name).join(', ')}.`)
}

const invalid = (parameter: string, message: string, remedy: string): HttpError =>
  new HttpError('invalid_request', `${parameter}: ${message}.`, { parameter, remedy })
