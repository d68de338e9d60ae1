import type { Model, ModelPart, ModelRequest } from '../../src/contracts/index.ts'
import type { ScriptedStep } from '../../src/testing/index.ts'

// A model for pages: what an agent says depends on the last message to it, so that a test can go on as long as it likes.

export interface Story {
  /** Matches the last message of the user. Default: every message. */
  readonly when?: RegExp
  /** One for each reply to that message. The last one is repeated. */
  readonly steps: readonly (ScriptedStep & {
    /** Between two words. Default: none. */
    readonly pauseMs?: number
    /** Pieces of text, after `text`. At a promise the model waits for it. */
    readonly pieces?: readonly (string | Promise<unknown>)[]
  })[]
}

/** By agent. */
export type Stories = { readonly [agent: string]: readonly Story[] }

/** The prompt of an agent begins with `You are NAME.` */
export function storyModel(stories: Stories, id = 'test/story'): Model {
  let calls = 0
  return {
    id,
    abilities: ['tools', 'images', 'files', 'json_schema'],
    async *stream(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<ModelPart> {
      const { pauseMs = 0, pieces = [], ...step } = stepFor(stories, request)
      const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
      aborted.catch(() => {})
      await Promise.race([step.wait, aborted])
      if (step.fault && typeof step.fault === 'object') {
        yield { type: 'error', failure: step.fault }
        return
      }
      for (const type of ['reasoning', 'text'] as const)
        for (const word of (step[type] ?? '').split(/(?<=\s)/)) {
          await new Promise((resolve) => (pauseMs > 0 ? setTimeout(resolve, pauseMs) : setImmediate(resolve)))
          signal.throwIfAborted()
          if (word !== '') yield { type, text: word }
        }
      for (const piece of pieces)
        if (typeof piece === 'string') yield { type: 'text', text: piece }
        else await Promise.race([piece, aborted])
      for (const { tool, input = {} } of step.calls ?? [])
        yield { type: 'call', id: `call_${++calls}`, name: tool, input: typeof input === 'string' ? input : JSON.stringify(input) }
      const usage = { input: 420, output: 64, cacheRead: 0, cacheWrite: 0, reasoning: 0, ...step.usage }
      yield {
        type: 'finish',
        reason: step.calls ? 'tool-calls' : 'stop',
        usage,
        ...(step.costUsd !== undefined && { costUsd: step.costUsd }),
      }
    },
  }
}

function stepFor(stories: Stories, { system, messages }: ModelRequest): Story['steps'][number] {
  const agent = /^You are (\w+)\./.exec(system)?.[1] ?? ''
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const last = messages[at]
  const text = last?.role === 'user' ? last.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ') : ''
  const story = (stories[agent] ?? []).find(({ when }) => !when || when.test(text))
  if (!story) return { text: `${agent} has no story for: ${text.slice(0, 200)}` }
  const replies = messages.slice(at).filter(({ role }) => role === 'assistant').length
  return story.steps[Math.min(replies, story.steps.length - 1)] ?? { text: '' }
}
