import { expect, it } from 'vitest'
import type { AgentDescription, ModelParameters } from '../../contracts/index.ts'
import { messagesBody } from './request-schema.ts'
import { turnSettings } from './turn-settings.ts'

const agent = (
  overrides: readonly (keyof ModelParameters)[],
  { tools = [], agents = [] }: Partial<Pick<AgentDescription, 'tools' | 'agents'>> = {},
) => ({ name: 'clerk', overrides, tools, agents }) as unknown as AgentDescription

const settings = (more: object, to = agent(['temperature', 'topP', 'reasoning'])) =>
  turnSettings(messagesBody.parse({ model: 'clerk', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...more }), to)

it('passes parameters on that the agent allows, and names the others', () => {
  const wanted = {
    temperature: 0.2,
    top_p: 0.9,
    top_k: 3,
    speed: 'fast',
    service_tier: 'standard_only',
    diagnostics: { log: true },
    unheard_of: 1,
  }
  expect(settings(wanted)).toMatchObject({
    parameters: { temperature: 0.2, topP: 0.9 },
    ignored: ['top_k', 'speed', 'service_tier', 'diagnostics', 'unheard_of'],
  })
  expect(settings(wanted, agent(['topP']))).toMatchObject({
    parameters: { topP: 0.9 },
    ignored: ['temperature', 'top_k', 'speed', 'service_tier', 'diagnostics', 'unheard_of'],
  })
})

it('has nothing to say about defaults', () => {
  const defaults = { temperature: null, top_p: null, top_k: null, speed: 'standard', service_tier: 'auto', metadata: { user_id: null } }
  expect(settings({ top_p: -1, top_k: -1 }).ignored).toEqual([])
  expect(settings(defaults)).toEqual({ parameters: {}, maxTokens: 100, showsThinking: false, ignored: [] })
})

it.each([
  [{ thinking: { type: 'disabled' } }, 'none'],
  [{ thinking: { type: 'disabled' }, output_config: { effort: 'high' } }, 'none'],
  [{ thinking: { type: 'adaptive' } }, undefined],
  [{ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }, 'low'],
  [{ output_config: { effort: 'max' } }, 'xhigh'],
  [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, 'minimal'],
  [{ thinking: { type: 'enabled', budget_tokens: 4096 } }, 'low'],
  [{ thinking: { type: 'enabled', budget_tokens: 10_000 } }, 'medium'],
  [{ thinking: { type: 'enabled', budget_tokens: 16_384 } }, 'high'],
  [{ thinking: { type: 'enabled', budget_tokens: 60_000 } }, 'xhigh'],
])('%j is the effort %s', (more, effort) => {
  expect(settings(more).parameters.reasoning).toBe(effort)
})

it('names an effort that the agent does not allow', () => {
  expect(settings({ thinking: { type: 'enabled', budget_tokens: 1024 } }, agent([])).ignored).toEqual(['thinking'])
  expect(settings({ output_config: { effort: 'low' } }, agent([])).ignored).toEqual(['output_config.effort'])
})

it('limits the model only where every step is the answer', () => {
  expect(settings({}, agent(['maxOutputTokens'])).parameters).toEqual({ maxOutputTokens: 100 })
  expect(settings({}, agent(['maxOutputTokens'], { tools: ['shell'] })).parameters).toEqual({})
  expect(settings({}, agent(['maxOutputTokens'], { agents: ['helper'] })).parameters).toEqual({})
  expect(settings({}, agent([])).parameters).toEqual({})
})
