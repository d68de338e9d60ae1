import { expect, it } from 'vitest'
import { CodeReviewAgent } from '../../../extensions/code_reviewer/main.ts'
import type { AgentResult, InvokeCall } from '../../../src/contracts/index.ts'
import { extensionContext } from '../extension-context.ts'

const answer: AgentResult = { status: 'completed', content: 'Looks good.' }
const { signal } = new AbortController()

function openReviewer() {
  const { context, recorded } = extensionContext({ startAgent: () => answer })
  const reviewer = new CodeReviewAgent()
  reviewer.initialize(context)
  const call: InvokeCall = { signal, person: undefined, correlationId: 'c', progress: () => undefined }
  return { reviewer, call, started: recorded.started }
}

it('runs the agent of its manifest with the task and what the caller added', async () => {
  const { reviewer, call, started } = openReviewer()
  expect(await reviewer.invoke('Review a.ts', { diff: '+x' }, call)).toBe(answer)
  expect(await reviewer.invoke('Review b.ts', undefined, call)).toBe(answer)
  expect(started).toEqual([
    { task: 'Review a.ts', options: { signal, context: { diff: '+x' } } },
    { task: 'Review b.ts', options: { signal } },
  ])
})

it('refuses an empty task without asking a model', async () => {
  const { reviewer, call, started } = openReviewer()
  expect(await reviewer.invoke(' \n', undefined, call)).toMatchObject({ status: 'failed', error: { class: 'invalid_input' } })
  expect(started).toEqual([])
})
