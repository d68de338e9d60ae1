import {
  type AttemptContext,
  appendInstruction,
  jsonInstruction,
  type Message,
  type Model,
  type ModelPart,
  type ModelRequest,
} from '../../contracts/index.ts'
import { type ErrorNames, modelFailure, userBuiltRemedies } from '../failures/index.ts'
import { withinAbilities } from './model-facts.ts'
import { withPartsBesideResults } from './result-parts.ts'
import { untilAborted } from './until-aborted.ts'

/** A prepared call of a framework's model. */
interface FrameworkCall {
  /** Parts of the request that are dropped. */
  readonly notices: readonly string[]
  /** Returns a stream of chunks, or a promise of one. */
  open(): unknown
}

interface Framework {
  /** The system text already includes the instruction for JSON. */
  prepare(request: ModelRequest, signal: AbortSignal): FrameworkCall
  reader(messages: readonly Message[]): FrameworkReader
  readonly names?: ErrorNames
}

interface FrameworkReader {
  take(chunk: unknown): readonly ModelPart[]
  /** Empty if the reply was cut off. */
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
    const call = framework.prepare({ ...request, system, messages: withPartsBesideResults(request.messages) }, signal)
    for (const message of [...notices, ...call.notices]) yield { type: 'notice', message }
    for await (const chunk of untilAborted(() => call.open(), signal)) yield* reader.take(chunk)
  } catch (error) {
    const rules = { remedies: userBuiltRemedies, ...(framework.names && { names: framework.names }) }
    if (!signal.aborted) yield { type: 'error', failure: modelFailure(error, rules) }
    return
  }
  if (!signal.aborted) yield* reader.end()
}
