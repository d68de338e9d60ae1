import type { Model, ModelFailure, ModelRequest } from '../../../src/contracts/index.ts'
import { ScriptedModel, type ScriptedStep } from '../../../src/testing/index.ts'
import { pieces } from '../../wire/wire-reply.ts'
import { finishOf, type LoopAdapter, type PlayedReply } from '../conversation.ts'

export const scripted: LoopAdapter = {
  name: 'ScriptedModel',
  // It has no seal, but then it sees what it said.
  seal: 'They ask for the sky.',
  play(replies, { costOf } = {}) {
    const inner = new ScriptedModel(replies.map(stepOf), { abilities: ['tools', 'images', 'files', 'reasoning', 'json_schema'] })
    const abandoned = Promise.withResolvers<void>()
    const model: Model = {
      id: inner.id,
      abilities: inner.abilities,
      ...(costOf && { costOf }),
      stream(request, context) {
        if (replies[inner.requests.length]?.fault === 'silence')
          context.signal.addEventListener('abort', () => abandoned.resolve(), { once: true })
        return inner.stream(request, context)
      },
    }
    return { model, requests: inner.requests, abandoned: () => abandoned.promise }
  },
  messagesIn: (request) => (request as ModelRequest).messages,
  toolsAreOff: (request) => (request as ModelRequest).toolChoice === 'none',
}

function stepOf(reply: PlayedReply): ScriptedStep {
  const { reasoning, text, calls, usage } = reply
  const fault = faultOf(reply)
  return {
    ...(reasoning !== undefined && { reasoning }),
    ...(text !== undefined && { text, chunks: pieces(text) }),
    ...(calls && { calls: calls.map(({ id, name, input }) => ({ id, tool: name, input })) }),
    ...(usage && { usage }),
    ...(fault !== undefined && { fault }),
    finish: finishOf(reply),
  }
}

function faultOf({ fault }: PlayedReply): ModelFailure | 'cut' | 'silence' | undefined {
  if (fault === 'unauthorized') return { class: 'auth', message: 'refused' }
  return typeof fault === 'object' ? { class: 'rate_limit', message: 'limited', retryAfterMs: fault.limitedForSeconds * 1000 } : fault
}
