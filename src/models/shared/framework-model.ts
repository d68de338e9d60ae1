import {
  type AttemptContext,
  appendInstruction,
  jsonInstruction,
  type Message,
  type Model,
  type ModelPart,
  type ModelRequest,
} from '../../contracts/index.ts'
import { builtByItsUser, type ErrorNames, modelFailure } from '../failures/index.ts'
import { withinAbilities } from './model-facts.ts'
import { untilAborted } from './until-aborted.ts'

/** A call of a framework's model that is ready to be made. */
interface FrameworkCall {
  /** What of the request will not be done. */
  readonly notices: readonly string[]
  /** Brings a stream of chunks, or the promise of one. */
  open(): unknown
}

/** What differs between frameworks. */
interface Framework {
  /** The request's system text has the wish for JSON in it. */
  prepare(request: ModelRequest, signal: AbortSignal): FrameworkCall
  reader(messages: readonly Message[]): FrameworkReader
  readonly names?: ErrorNames
}

interface FrameworkReader {
  take(chunk: unknown): readonly ModelPart[]
  /** Nothing at all where the reply was cut. */
  end(): readonly ModelPart[]
}

/** A model of a framework that streams chunks of its own. */
export function frameworkModel(facts: Omit<Model, 'stream'>, framework: Framework): Model {
  return { ...facts, stream: (request, context) => answer({ facts, framework }, request, context) }
}

interface Asked {
  readonly facts: Omit<Model, 'stream'>
  readonly framework: Framework
}

async function* answer({ facts, framework }: Asked, asked: ModelRequest, { signal }: AttemptContext): AsyncGenerator<ModelPart> {
  const reader = framework.reader(asked.messages)
  try {
    const { request, notices } = withinAbilities(asked, facts)
    const system = appendInstruction(request.system, request.output && jsonInstruction(request.output))
    const call = framework.prepare({ ...request, system }, signal)
    for (const message of [...notices, ...call.notices]) yield { type: 'notice', message }
    for await (const chunk of untilAborted(() => call.open(), signal)) yield* reader.take(chunk)
  } catch (error) {
    const rules = { remedies: builtByItsUser, ...(framework.names && { names: framework.names }) }
    if (!signal.aborted) yield { type: 'error', failure: modelFailure(error, rules) }
    return
  }
  if (!signal.aborted) yield* reader.end()
}
