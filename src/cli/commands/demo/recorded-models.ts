import { basename, join } from 'node:path'
import type { AttemptContext, Clock, Message, Model, ModelAdapter, ModelPart, ModelRequest } from '../../../contracts/index.ts'
import { modelAdapter } from '../../../models/by-name/index.ts'
import { textOfParts } from '../../../util/text-of-parts.ts'
import { aboutCopy, asRecorded, copyFor, copyIn, type Recording, readRecordings, wentOtherwise } from './recordings.ts'

export interface RecordedModelsOptions {
  /** The folder of the agent files. */
  readonly agents: string
  /** The shop as it is copied for each run. */
  readonly shop: string
  readonly workspace: string
  /** Scripts wait with it. */
  readonly clock: Clock
}

/** The model names that the agent files of the demonstration use. */
const isRecorded = (name: string): boolean => name.startsWith('script/')

/** Models that answer with what was recorded for the last message, and say so if nothing was. Others come from `adapter`. */
export function recordedModels(adapter: ModelAdapter, options: RecordedModelsOptions): ModelAdapter {
  const scripts = modelAdapter({ variables: {}, baseDir: options.agents, clock: options.clock })
  const recordings = readRecordings(options.agents)
  const models = new Map<string, Promise<Model>>()
  return {
    ...(adapter.secrets && { secrets: adapter.secrets }),
    resolve(name) {
      if (!isRecorded(name)) return adapter.resolve(name)
      const known = models.get(name) ?? recordedModel(name, { scripts, recordings, options })
      models.set(name, known)
      return known
    },
  }
}

interface Recorded {
  readonly scripts: ModelAdapter
  readonly recordings: readonly Recording[]
  readonly options: RecordedModelsOptions
}

async function recordedModel(name: string, recorded: Recorded): Promise<Model> {
  const { scripts, options } = recorded
  const file = basename(name)
  const unknown = await scripts.resolve(`script/${join(options.agents, file)}`)
  return { ...unknown, id: `script/${file}`, stream: (request, context) => play(request, { ...recorded, context, unknown }) }
}

interface Playing extends Recorded {
  readonly context: AttemptContext
  /** Answers messages without a recording. */
  readonly unknown: Model
}

async function* play(request: ModelRequest, { scripts, recordings, options, context, unknown }: Playing): AsyncGenerator<ModelPart> {
  const messages = currentTurn(request.messages)
  const asked = asRecorded(textOf(messages[0])).toLowerCase()
  const found = recordings.find(
    ({ agent, message }) => message.toLowerCase() === asked && new RegExp(`\\bYou are the ${agent}\\b`).test(request.system),
  )
  if (!found) return yield* unknown.stream({ ...request, messages: messages.slice(0, 1) }, context)
  const copy = copyIn(JSON.stringify(messages)) ?? copyFor(found, options)
  const { script, otherwise } = found
  const [name, said] = otherwise && wentOtherwise(found, messages) ? [otherwise, messages.slice(0, 1)] : [script, messages]
  const model = await scripts.resolve(`script/${join(options.agents, 'recorded', `${name}.yaml`)}`)
  for await (const part of model.stream({ ...request, messages: said }, context)) yield ofCopy(part, copy)
}

/** From the message that the turn began with. Notices within a turn are messages of the user, too. */
function currentTurn(messages: readonly Message[]): readonly Message[] {
  const first = messages.findLastIndex(({ role }, index) => role === 'user' && (index === 0 || isAnswer(messages[index - 1])))
  return messages.slice(Math.max(0, first))
}

/** A reply without calls ends its turn. */
const isAnswer = (message: Message | undefined): boolean =>
  message?.role === 'assistant' && !message.parts.some(({ type }) => type === 'call')

const textOf = (message: Message | undefined): string => (message?.role === 'user' ? textOfParts(message.parts, '') : '')

function ofCopy(part: ModelPart, copy: number): ModelPart {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { ...part, text: aboutCopy(part.text, copy) }
    case 'call':
      return { ...part, input: aboutCopy(part.input, copy) }
    default:
      return part
  }
}
