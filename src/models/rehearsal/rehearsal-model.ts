// A stand-in for a model, without a key and a network. It is stateless: the same history gets the same reply.
//
// 1. Only the words of the person choose tools. Results fill arguments and answers.
// 2. In a turn no call is made twice, and there are at most `maxSteps` steps with calls: it always ends with an answer.
// 3. A text that a call has set up for later, such as a scheduled task, does not make that call again.
// 4. Every answer says that no AI model has made it.
import type { AttemptContext, Model, ModelPart, ModelRequest } from '../../contracts/index.ts'
import { answerJson } from './answer-json.ts'
import { answerText, missingText } from './answer-text.ts'
import { planMove } from './plan-move.ts'

/** Tools are chosen by the words of a request, simple fields are filled from it, and results are summed up. It is no LLM. */
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
  const move = planMove(request)
  if (move.kind === 'call') {
    const step = request.messages.filter(({ role }) => role === 'assistant').length + 1
    for (const [index, { tool, input }] of move.calls.entries())
      yield { type: 'call', id: `call_${step}_${index + 1}`, name: tool.name, input: JSON.stringify(input) }
    yield { type: 'finish', reason: 'tool-calls', costUsd: 0 }
    return
  }
  if (request.output) {
    yield { type: 'notice', message: [madeByRules, ...move.missing.map(missingText)].join(' ') }
    yield* inWords(JSON.stringify(answerJson(move, request)))
  } else yield* inWords(answerText(move, request.tools))
  yield { type: 'finish', reason: 'stop', costUsd: 0 }
}

const madeByRules = 'Rules (rehearsal) filled in this JSON, not an AI model. Fields without a known value have a neutral one.'

function* inWords(text: string): Generator<ModelPart> {
  for (const [word] of text.matchAll(/\s*\S{1,200}|\s+$/g)) yield { type: 'text', text: word }
}
