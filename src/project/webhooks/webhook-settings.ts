import type { JsonObject, OwnerBudget, Problem } from '../../contracts/index.ts'
import { orchestratorName } from '../../policy/orchestrator-name.ts'
import { didYouMean } from '../../yaml/messages.ts'
import { type Config, type ConfigDiagnostic, settingsOf } from '../config/config.ts'
import { configError } from '../config/load-config.ts'
import { keysOf, placeOf, type Sourced, sourcedAt } from '../config/sourced.ts'
import { resolveParts, type VariableSources } from '../config/variables/resolve-placeholders.ts'
import { checkWebhookUrl, type SessionEvent, type signatures } from '../config/webhooks-shape.ts'
import { templateProblems } from '../templates/render-text.ts'
import { isWebhookSecret } from './webhook-signature.ts'

/** An address that learns what happens to sessions. */
export interface OutgoingWebhook {
  readonly name: string
  readonly url: string
  readonly secret: string
  readonly events: readonly SessionEvent[]
  /** Names of agents; `*` at the end matches any rest. Absent: all. */
  readonly agents?: readonly string[]
}

/** A route whose requests start sessions. */
export interface IncomingWebhook {
  readonly name: string
  readonly agent: string
  /** Templates over `body` and `headers`. */
  readonly input: string
  /** The delivery: repeated ones are taken once. Default: the header of the sender. */
  readonly id?: string
  /** Deliveries with the same key go to one session. */
  readonly key?: string
  readonly credential:
    | { readonly kind: (typeof signatures)[number]; readonly secret: string }
    | { readonly kind: 'token'; readonly token: string; readonly header?: string }
  readonly budget?: OwnerBudget
  readonly requestsPerMinute?: number
}

export interface WebhookSettings {
  readonly outgoing: readonly OutgoingWebhook[]
  readonly incoming: readonly IncomingWebhook[]
}

interface Named {
  readonly name: string
  /** `webhooks.outgoing.ci`. */
  readonly path: readonly string[]
  readonly tree: Sourced
}

const named = (config: Config, direction: 'outgoing' | 'incoming'): readonly Named[] => {
  const section = sourcedAt(settingsOf(config, 'webhooks'), [direction])
  return keysOf(section).flatMap((name) => {
    const tree = sourcedAt(section, [name])
    return tree ? [{ name, tree, path: ['webhooks', direction, name] }] : []
  })
}

/** With the values of their variables. Throws `config_invalid` with all that are missing or cannot be used. */
export function webhooksOf(sources: VariableSources): WebhookSettings {
  const { config } = sources
  const [outgoing, incoming] = [named(config, 'outgoing'), named(config, 'incoming')]
  const { values } = resolveParts([...outgoing, ...incoming], sources)
  const problems = [...outgoing, ...incoming].flatMap((each, index) => valueProblems(each, values[index] as JsonObject))
  if (problems.length > 0) throw configError(problems)
  return {
    outgoing: outgoing.map(
      ({ name }, index) => ({ events: ['completed', 'failed', 'waiting'], ...(values[index] as object), name }) as never,
    ),
    incoming: incoming.map(({ name }, index) => incomingOf(name, values[outgoing.length + index] as JsonObject)),
  }
}

function incomingOf(name: string, { secret, signature = 'standard', token, header, ...rest }: JsonObject): IncomingWebhook {
  const credential = token === undefined ? { kind: signature, secret } : { kind: 'token', token, ...(header !== undefined && { header }) }
  return { ...rest, name, credential } as unknown as IncomingWebhook
}

const shortestSecret = 8
const tooShort = `must have at least ${shortestSecret} characters`
const newToken = 'Create one: openssl rand -hex 32'
const newSecret = 'Create one: echo "whsec_$(openssl rand -base64 32)"'

/** What can be wrong with the values of variables. The values are not shown. */
function valueProblems({ path, tree }: Named, { url, secret, token, signature = 'standard' }: JsonObject): readonly Problem[] {
  const problem = (key: string, message: string, remedy: string): Problem => {
    const at = sourcedAt(tree, [key]) ?? tree
    return { place: placeOf(at.origin), message: `\`${[...path, key].join('.')}\` ${message}`, remedy }
  }
  const wrongUrl = typeof url === 'string' ? checkWebhookUrl(url) : undefined
  const isStandard = signature === 'standard'
  return [
    ...(wrongUrl === undefined ? [] : [problem('url', wrongUrl, 'Write it like `https://ci.example.com/troupe`.')]),
    ...(typeof secret === 'string' && isStandard && !isWebhookSecret(secret)
      ? [problem('secret', 'must be `whsec_` and 24 to 64 bytes in base64', newSecret)]
      : []),
    ...(typeof secret === 'string' && !isStandard && secret.trim().length < shortestSecret ? [problem('secret', tooShort, newToken)] : []),
    ...(typeof token === 'string' && (token.length < shortestSecret || /\s/.test(token))
      ? [problem('token', `${tooShort} without spaces`, newToken)]
      : []),
  ]
}

/** Templates that cannot be read. Variables need not be set. */
export async function webhookProblems(config: Config): Promise<readonly Problem[]> {
  const found = named(config, 'incoming').flatMap(({ tree, path }) =>
    ['input', 'id', 'key'].map(async (key): Promise<readonly Problem[]> => {
      const template = sourcedAt(tree, [key])
      if (template?.kind !== 'value') return []
      const text = { text: String(template.value), place: [...path, key].join('.'), firstLine: 1 }
      return (await templateProblems(text)).map((each) => ({
        ...each,
        place: placeOf(template.origin),
        message: `\`${each.place}\`: ${each.message}`,
      }))
    }),
  )
  return (await Promise.all(found)).flat()
}

/** Incoming webhooks whose agent does not exist. `agents`: of the whole project. */
export const unknownAgents = (config: Config, agents: readonly string[]): readonly ConfigDiagnostic[] =>
  named(config, 'incoming').flatMap(({ tree, path }): readonly ConfigDiagnostic[] => {
    const agent = sourcedAt(tree, ['agent'])
    const name = agent?.kind === 'value' ? String(agent.value) : orchestratorName
    if (!agent || name === orchestratorName || agents.includes(name)) return []
    const message = `\`${path.join('.')}\` refuses its requests: there is no agent \`${name}\``
    const remedy = didYouMean(name, agents) ?? 'Name an agent of `troupe agents list`.'
    return [{ code: 'config_rule_idle', severity: 'warning', place: placeOf(agent.origin), message, remedy }]
  })
