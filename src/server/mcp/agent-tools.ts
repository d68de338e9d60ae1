import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { AgentDescription, JsonObject, JsonSchema, OutputContract, SchemaValidator } from '../../contracts/index.ts'
import { shortHash } from '../../util/hash.ts'
import { HttpError, outputOf } from '../http/index.ts'

// Agents as tools: their input contract, plus `format` and `schema` for the answer.

export interface AgentTool {
  readonly agent: AgentDescription
  readonly tool: Tool
  /** Arguments that choose the format of the answer. An agent whose own input has such a property does not offer it. */
  readonly choices: readonly ('format' | 'schema')[]
}

/** In the order of the agents. */
export function agentTools(agents: readonly AgentDescription[]): readonly AgentTool[] {
  return agents.map((agent) => {
    const choices = choicesOf(agent)
    const outputSchema = ownSchema(agent)
    const tool: Tool = {
      name: toolName(agent.name),
      ...(agent.displayName !== undefined && { title: agent.displayName }),
      description: agent.usage === undefined ? agent.description : `${agent.description}\nInput: ${agent.usage}`,
      inputSchema: inputSchema(agent, choices) as Tool['inputSchema'],
      ...(outputSchema && { outputSchema: outputSchema as NonNullable<Tool['outputSchema']> }),
    }
    return { agent, tool, choices }
  })
}

const maxNameLength = 128

/** Names of agents are valid, except for some that programs use. */
function toolName(name: string): string {
  if (name.length <= maxNameLength && /^[\w.-]+$/.test(name)) return name
  return `${name.replaceAll(/[^\w.-]+/g, '_').slice(0, maxNameLength - 12)}-${shortHash(name)}`
}

/** Clients check the answers of a tool with an output schema. So such an agent has one format. */
export const ownSchema = ({ output }: Pick<AgentDescription, 'output'>): JsonObject | undefined =>
  output.format === 'json' ? output.schema : undefined

function choicesOf(agent: AgentDescription): AgentTool['choices'] {
  const own = agent.input.format === 'json' ? ((agent.input.schema.properties ?? {}) as object) : {}
  const all: AgentTool['choices'] = ownSchema(agent) ? ['format'] : ['format', 'schema']
  return all.filter((name) => !Object.hasOwn(own, name))
}

function inputSchema(agent: AgentDescription, choices: AgentTool['choices']): JsonSchema {
  const { input, output } = agent
  const formats = ownSchema(agent) ? ['json'] : ['markdown', 'text', 'json']
  const offered = {
    format: { type: 'string', enum: formats, description: `The format of the answer. Default: ${output.format}.` },
    schema: { type: 'object', description: 'For the format json: the JSON Schema of the answer.' },
  }
  const added = Object.fromEntries(choices.map((name) => [name, offered[name]]))
  if (input.format === 'json')
    return { ...input.schema, type: 'object', properties: { ...(input.schema.properties as object | undefined), ...added } }
  const prompt = { type: 'string', minLength: 1, description: 'The task, with all the context the agent needs: it sees nothing else.' }
  return { type: 'object', properties: { prompt, ...added }, required: ['prompt'], additionalProperties: false }
}

export interface AgentArguments {
  readonly input: string
  readonly output?: OutputContract
}

const formats = z.enum(['markdown', 'text', 'json'])
const promptOnly = z.strictObject({ prompt: z.string().refine((text) => text.trim() !== '', 'expected a text') })

/** Throws `HttpError` with the argument that is wrong. */
export async function readArguments(
  { agent, choices }: AgentTool,
  given: { readonly [name: string]: unknown },
  validator: SchemaValidator,
): Promise<AgentArguments> {
  const chosen = Object.fromEntries(choices.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]))
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !choices.some((choice) => choice === name)))
  const { format, schema } = answerFormat(agent, chosen)
  const output = outputOf({ format, schema }, agent)
  return { input: await inputOf(agent, rest, validator), ...(output && { output }) }
}

function answerFormat(agent: AgentDescription, { format, schema }: { readonly [name: string]: unknown }) {
  const read = formats.optional().safeParse(format)
  if (!read.success) throw wrong('format', 'expected markdown, text or json')
  if (schema !== undefined && (typeof schema !== 'object' || schema === null || Array.isArray(schema)))
    throw wrong('schema', 'expected a JSON Schema as an object')
  if (read.data !== undefined && read.data !== 'json' && ownSchema(agent))
    throw wrong('format', `the agent "${agent.name}" always answers with JSON of its own schema`)
  return { format: read.data, schema: schema as JsonObject | undefined }
}

async function inputOf(agent: AgentDescription, given: object, validator: SchemaValidator): Promise<string> {
  if (agent.input.format === 'text') {
    const read = promptOnly.safeParse(given)
    if (read.success) return read.data.prompt
    throw wrong('prompt', `this tool takes \`prompt\`, a text, and found ${Object.keys(given).join(', ') || 'no arguments'}`)
  }
  const found = await (await validator.compile(agent.input.schema))(given)
  if (found.ok) return JSON.stringify(found.value)
  throw wrong('arguments', found.problems.join('; '))
}

const wrong = (parameter: string, message: string): HttpError =>
  new HttpError('invalid_request', `${parameter}: ${message}.`, { parameter, remedy: 'See the input schema of the tool.' })
