import { agentDefinitions } from './agent-definitions.ts'
import { lines } from './events.ts'
import { itemDefinitions } from './item-definitions.ts'
import { outcomeDefinitions } from './outcome-definitions.ts'
import { reachable, reference, type Schema, text } from './shapes.ts'

/** `TurnStarted` for `interaction.turn.started`. */
const eventName = (type: string): string =>
  type
    .split('.')
    .slice(1)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

const events = Object.entries(lines).flatMap(([type, schema]) =>
  type.startsWith('interaction.') ? [{ name: `${eventName(type)}Event`, schema }] : [],
)
const isDurable = ({ schema }: { readonly schema: Schema }): boolean => 'seq' in (schema.properties as object)
const union = (members: typeof events): Schema => ({ oneOf: members.map(({ name }) => reference(name)) })

/** Callers that must not read prompts get an empty one. */
const agent = { ...agentDefinitions.Agent, properties: { ...(agentDefinitions.Agent.properties as object), prompt: text } }

const all: { readonly [name: string]: Schema } = {
  ...agentDefinitions,
  Agent: agent,
  ...itemDefinitions,
  ...outcomeDefinitions,
  ...Object.fromEntries(events.map(({ name, schema }) => [name, schema])),
  DurableEvent: { description: 'An event of the journal.', ...union(events.filter(isDurable)) },
  StreamEvent: { description: 'An event of the journal, or a live event.', ...union(events) },
}

/** What answers refer to besides events. */
const named = ['TurnOperation', 'TurnReason', 'Cost', 'Diagnostic']

/** The definitions of schemas/ that `/openapi.json` contains. Loaded when somebody asks for it. */
export const apiDefinitions = reachable(['DurableEvent', 'StreamEvent', ...named].map(reference), all)
