import type { AttemptContext, Model, ModelPart, ModelRequest } from '../../contracts/index.ts'
import { answerJson } from './answer-json.ts'
import { askFor } from './describe-tools.ts'
import { plan } from './plan.ts'
import { report } from './report.ts'

/**
 * A stand-in for a model, without key and network: rules choose tools by the words of a request, fill in arguments, and
 * report the results. It is no LLM, and every answer says so. It is stateless: the same history gets the same answer.
 */
export function rehearsalModel(): Model {
  return { id: 'rehearsal/rules', abilities: ['tools', 'json_schema'], costOf: () => 0, stream: perform }
}

async function* perform(request: ModelRequest, { signal }: AttemptContext): AsyncGenerator<ModelPart> {
  if (signal.aborted) return
  for (const part of partsOf(request)) {
    yield part
    if (signal.aborted) return
  }
}

function* partsOf(request: ModelRequest): Generator<ModelPart> {
  const move = plan(request)
  if (move.kind === 'call') {
    const step = request.messages.filter(({ role }) => role === 'assistant').length + 1
    for (const [at, { tool, input }] of move.calls.entries())
      yield { type: 'call', id: `call_${step}_${at + 1}`, name: tool, input: JSON.stringify(input) }
    yield { type: 'finish', reason: 'tool-calls', costUsd: 0 }
    return
  }
  if (request.output) {
    const questions = move.questions.map(({ tool, missing }) => askFor(tool, missing))
    yield { type: 'notice', message: [madeByRules, ...questions].join(' ') }
    yield* streamed(JSON.stringify(answerJson(move, request)))
  } else yield* streamed(report(move, request.tools))
  yield { type: 'finish', reason: 'stop', costUsd: 0 }
}

const madeByRules = 'This JSON was put together by rules (rehearsal), not by an LLM; what nothing was known about has a neutral value.'

function* streamed(text: string): Generator<ModelPart> {
  for (const [word] of text.matchAll(/\s*\S{1,200}|\s+$/g)) yield { type: 'text', text: word }
}
