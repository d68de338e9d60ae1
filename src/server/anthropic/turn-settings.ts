import type { AgentDescription, JsonObject, ModelParameters, OutputContract, ReasoningEffort } from '../../contracts/index.ts'
import { asksNothing, labelOf } from '../http/index.ts'
import { type CountTokensBody, type MessagesBody, messagesBody } from './request-schema.ts'

/** What a request asks for beside its messages. */
interface TurnSettings {
  readonly parameters: ModelParameters
  readonly output?: OutputContract
  readonly labels?: readonly string[]
  readonly maxTokens: number
  readonly showsThinking: boolean
  /** Names of parameters that have no effect. */
  readonly ignored: readonly string[]
}

/** Parameters that the agent does not allow callers to set are ignored. */
export function turnSettings(body: MessagesBody, agent: AgentDescription): TurnSettings {
  const effort = effortOf(body)
  const wanted: readonly (readonly [name: string, key: keyof ModelParameters, value: number | string | null | undefined])[] = [
    ['temperature', 'temperature', body.temperature],
    ['top_p', 'topP', body.top_p === -1 ? null : body.top_p],
    [body.output_config?.effort ? 'output_config.effort' : 'thinking', 'reasoning', effort],
  ]
  const given = wanted.filter(([, , value]) => value !== undefined && value !== null)
  const isAllowed = (key: keyof ModelParameters): boolean => agent.overrides.includes(key)
  const parameters = Object.fromEntries(given.filter(([, key]) => isAllowed(key)).map(([, key, value]) => [key, value]))
  const output = outputOf(body)
  const user = body.metadata?.user_id
  return {
    parameters: { ...parameters, ...(canLimitModel(agent) && { maxOutputTokens: body.max_tokens }) },
    ...(output && { output }),
    ...(user && { labels: [labelOf(`user:${user}`)] }),
    maxTokens: body.max_tokens,
    showsThinking: isShown(body.thinking),
    ignored: [...given.flatMap(([name, key]) => (isAllowed(key) ? [] : [name])), ...withoutEffect(body)],
  }
}

/** The limit of a model applies to every step: only where there is one step, it limits the answer alone. */
const canLimitModel = ({ overrides, tools, agents }: AgentDescription): boolean =>
  overrides.includes('maxOutputTokens') && tools.length === 0 && agents.length === 0

const defaults: { readonly [name: string]: unknown } = { service_tier: 'auto', speed: 'standard', top_k: -1 }

/** What the schema does not have, unless it asks for nothing. */
function withoutEffect(body: MessagesBody): readonly string[] {
  const { effort: _, format: __, ...more } = body.output_config ?? {}
  const unknown = Object.entries(body).filter(([name]) => !Object.hasOwn(messagesBody.shape, name))
  const nested = Object.entries(more).map(([name, value]) => [`output_config.${name}`, value] as const)
  return [...unknown, ...nested].flatMap(([name, value]) => (asksNothing(value) || value === defaults[name] ? [] : [name]))
}

export function outputOf(body: Pick<CountTokensBody, 'output_config' | 'output_format'>): OutputContract | undefined {
  const format = body.output_config?.format ?? body.output_format
  return format ? { format: 'json', schema: format.schema as JsonObject } : undefined
}

const isShown = (thinking: CountTokensBody['thinking']): boolean =>
  !!thinking && thinking.type !== 'disabled' && thinking.display !== 'omitted'

/** `undefined`: the agent decides. */
function effortOf({ thinking, output_config }: MessagesBody): ReasoningEffort | undefined {
  if (thinking?.type === 'disabled') return 'none'
  const effort = output_config?.effort
  if (effort) return effort === 'max' ? 'xhigh' : effort
  if (thinking?.type !== 'enabled') return undefined
  const { budget_tokens: budget } = thinking
  return efforts.find(([least]) => budget >= least)?.[1]
}

/** Smallest budgets of efforts, as Troupe asks models for them. */
const efforts: readonly (readonly [number, ReasoningEffort])[] = [
  [32_768, 'xhigh'],
  [16_384, 'high'],
  [8192, 'medium'],
  [2048, 'low'],
  [0, 'minimal'],
]
