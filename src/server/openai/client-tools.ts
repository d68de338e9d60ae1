import { z } from 'zod'
import type { ClientTool, Json, JsonObject, SessionSettings, ToolChoice } from '../../contracts/index.ts'
import { invalid } from './content.ts'

// The tools that a client brings, in the two formats of OpenAI: chat has the fields of a function inside `function`, responses beside
// `type`. A custom tool takes a text: the model gets it as a function with one text.

const functionFields = {
  name: z.string().min(1),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
}
const customFields = { name: z.string().min(1), description: z.string().nullish(), format: z.looseObject({}).nullish() }

/** Only the type is common: tools of other types are left out. */
export const toolsSchema = z.array(z.looseObject({ type: z.string() }))
export const toolChoiceSchema = z.union([z.enum(['auto', 'none', 'required']), z.looseObject({ type: z.string() })])

type WireTool = z.infer<typeof toolsSchema>[number]
type WireChoice = z.infer<typeof toolChoiceSchema>

export interface BroughtTools {
  readonly settings: Pick<SessionSettings, 'clientTools' | 'toolChoice'>
  /** Names of tools that take a text. */
  readonly custom: ReadonlySet<string>
  /** Tools of other types, for the header that names what has no effect. */
  readonly ignored: readonly string[]
}

interface ToolFields {
  readonly tools?: readonly WireTool[] | null | undefined
  readonly tool_choice?: WireChoice | null | undefined
}

export function readTools({ tools, tool_choice: choice }: ToolFields): BroughtTools {
  const custom = new Set<string>()
  const ignored = new Set<string>()
  const clientTools = (tools ?? []).flatMap((tool, index): readonly ClientTool[] => {
    const place = `tools.${index}`
    if (tool.type === 'function') return [functionTool(tool, place)]
    if (tool.type !== 'custom') {
      ignored.add(`tools.${tool.type}`)
      return []
    }
    const read = customTool(tool, place)
    custom.add(read.name)
    return [read]
  })
  if (clientTools.length === 0) {
    if (asksForTool(choice)) throw invalid('tool_choice', 'there are no tools to choose from', 'Send the tools, too.')
    return { settings: {}, custom, ignored: [...ignored] }
  }
  return { settings: chosen(clientTools, choice ?? 'auto'), custom, ignored: [...ignored] }
}

const asksForTool = (choice: WireChoice | null | undefined): boolean =>
  choice === 'required' || (typeof choice === 'object' && choice !== null)

function functionTool(tool: WireTool, place: string): ClientTool {
  const [given, at] = 'function' in tool ? [tool.function, `${place}.function`] : [tool, place]
  const { name, description, parameters } = fieldsOf(z.looseObject(functionFields), given, at)
  return { name, description: description ?? '', inputSchema: (parameters ?? { type: 'object', properties: {} }) as JsonObject }
}

function customTool(tool: WireTool, place: string): ClientTool {
  const [given, at] = 'custom' in tool ? [tool.custom, `${place}.custom`] : [tool, place]
  const { name, description, format } = fieldsOf(z.looseObject(customFields), given, at)
  const grammar = format && format.type === 'grammar' ? `\n\nThe input has this format:\n${JSON.stringify(format.grammar ?? format)}` : ''
  const inputSchema = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }
  return { name, description: `${description ?? ''}${grammar}`, inputSchema }
}

/** `allowed_tools` leaves out the others. */
function chosen(tools: readonly ClientTool[], choice: WireChoice): BroughtTools['settings'] {
  if (typeof choice === 'string') return { clientTools: tools, toolChoice: choice }
  if (choice.type === 'allowed_tools') {
    const { mode, tools: allowed } = fieldsOf(allowedTools, choice.allowed_tools ?? choice, 'tool_choice')
    const names = new Set(allowed.map(nameOf))
    return { clientTools: tools.filter(({ name }) => names.has(name)), toolChoice: mode }
  }
  const tool = nameOf(choice)
  if (tools.some(({ name }) => name === tool)) return { clientTools: tools, toolChoice: { tool } satisfies ToolChoice }
  throw invalid('tool_choice', `there is no tool "${tool}"`, `Use one of ${tools.map(({ name }) => name).join(', ')}.`)
}

const allowedTools = z.looseObject({ mode: z.enum(['auto', 'required']), tools: z.array(z.looseObject({ type: z.string() })) })

/** Chat has the name inside, responses beside the type. */
function nameOf({ function: called, custom, name }: { readonly [field: string]: unknown }): string {
  const inside = (called ?? custom) as { readonly name?: unknown } | undefined
  return String(inside?.name ?? name ?? '')
}

function fieldsOf<Fields>(schema: z.ZodType<Fields>, value: unknown, place: string): Fields {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalid([place, ...(issue?.path ?? [])].join('.'), 'the field of a tool is missing or wrong')
}

/** What a response repeats of the tools that it has offered. */
export function repeatedTools({ tools, tool_choice }: ToolFields): { readonly [name: string]: Json } {
  const offered = (tools ?? []).flatMap((tool): readonly object[] => {
    const { name, description = null } = tool
    if (tool.type === 'custom') return [{ type: 'custom', name, description, format: tool.format ?? { type: 'text' } }]
    return tool.type === 'function'
      ? [{ type: 'function', name, description, parameters: tool.parameters ?? null, strict: tool.strict ?? null }]
      : []
  })
  return { tools: offered as unknown as Json, tool_choice: (offered.length > 0 ? (tool_choice ?? 'auto') : 'auto') as Json }
}

/** The arguments of a call as the client gets them: JSON, or the text of a custom tool. */
export const argumentsOf = (input: object, isCustom: boolean): string =>
  isCustom ? String((input as { readonly input?: unknown }).input ?? '') : JSON.stringify(input)
